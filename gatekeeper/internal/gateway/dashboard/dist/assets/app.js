var G,oo,gs,Fe,an,At,ro,Rt,so,cn,ln,_s,pt=Symbol.for("pv"),It={},Nt=[],bs=/^m(i|n|o|s|text|space)$/,un=Array.isArray,pn=Nt.slice,et=Object.assign;function Ze(e){e&&e.parentNode&&e.remove()}function ao(e,t,n){var o,s,r,i={},l=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?s=t[r]:i[r]=t[r];return l>2&&(i.children=l>3?pn.call(arguments,2):n),ut(e,i,o,s,null)}function ut(e,t,n,o,s){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:pt,__v:s||++oo,__i:-1,__u:0};return!s&&G.vnode&&G.vnode(r),r}function Mt(e){return e.children}function st(e,t){this.props=e,this.context=t,this.__g=0}function qe(e,t){if(t==null)return e.__&&qe(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:qe(e)}function vs(e){var t,n=e.__v,o=n.__e,s=[],r=[],i=e.__P;i&&((t=et({constructor:pt},n)).__v=n.__v+1,G.vnode&&G.vnode(t),dn(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,s,o||qe(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,mo(s,t,r),n.__=n.__e=null,t.__e!=o&&io(t))}function io(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),io(e)}function to(e){(8&e.__g||(e.__g|=8,Fe.push(e),At++))&&an==G.debounceRendering||((an=G.debounceRendering)||queueMicrotask)(lo)}function lo(){try{for(var e,t=1;Fe.length;)Fe.length>t&&Fe.sort(ro),e=Fe.shift(),t=Fe.length,8&e.__g&&vs(e)}finally{(At=Fe.length)&&(an||queueMicrotask)(lo)}}function co(e,t,n,o,s,r,i,l,c,p,u){var g,$,d,m,f,h,b=o.__k||Nt,y=t.length;for(c=ys(n,t,b,c,y),g=0;g<y;g++)(d=n.__k[g])!=null&&($=~d.__i&&b[d.__i]||It,d.__i=g,h=dn(e,d,$,s,r,i,l,c,p,u),m=d.__e,($.ref!=d.ref||8&$.__u)&&($.ref&&mn($.ref,null,d,$),d.ref&&u.push(d.ref,d.__c||m,d)),f=f||m,4&d.__u?(c=uo(d,c,e,!$.__v),$.__e&&($.__e=null)):typeof d.type=="function"&&h!==void 0?c=h:m&&(c=m.nextSibling),d.__u&=-21);return n.__e=f,c}function ys(e,t,n,o,s){var r,i,l,c,p,u,g,$,d,m=n.length,f=m,h=0,b=0,y=e.__k=Array(s);for(r=0;r<s;r++)(i=t[r])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=y[r]=ut(null,i):un(i)?i=y[r]=ut(Mt,{children:i}):i.constructor===pt&&i.__b?i=y[r]=ut(i.type,i.props,i.key,i.ref,i.__v):y[r]=i,c=r+h,i.__=e,i.__b=e.__b+1,l=null,~(p=i.__i=ws(i,n,c,f))&&(f--,(l=n[p])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,p==c-1?h--:p==c+1?h++:p!=c&&(p>c?h--:h++,b=1)):(~p||(s>m?h--:s<m&&h++),typeof i.type!="function"&&(i.__u|=4))):y[r]=null;if(b){for(u=[],g=[],r=0;r<s;r++)if((i=y[r])&&16&i.__u){for(h=0,$=u.length;h<$;)u[d=h+$>>1]<i.__i?h=d+1:$=d;u[h]=i.__i,g[r]=h+1}for(h=u.length;r--;)g[r]&&(g[r]==h?h--:y[r].__u|=4)}if(f)for(r=0;r<m;r++)!(l=n[r])||2&l.__u||(l.__e==o&&(o=qe(l)),fn(l,l));return o}function uo(e,t,n,o){var s,r,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=e,t=uo(s[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=qe(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function ws(e,t,n,o){var s,r=e.key,i=e.type,l=t[n],c=l&&!(2&l.__u);if(l===null&&r==null||c&&r==l.key&&i==l.type)return n;if(o>(c?1:0)){for(s=n-1;s>=0;s--)if((l=t[s])&&!(2&l.__u)&&r==l.key&&i==l.type)return s;for(s=n+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&r==l.key&&i==l.type)return s}return-1}function no(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function Dt(e,t,n,o,s){var r,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||no(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||no(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=ln[t]||(ln[t]=ks(t)),(e.__a||(e.__a={}))[t]=cn,r=t!=(t=t.replace(so,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,r):e.removeEventListener(t,i,r));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function ks(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[Rt]==null)t[Rt]=cn++;else if(t[Rt]<this.__a[e])return;return n(G.event?G.event(t):t)}}}function dn(e,t,n,o,s,r,i,l,c,p){var u,g,$,d,m,f,h,b,y,E,O,k,A,W,Y,K,z,J,ee=t.type;if(t.constructor!==pt)return null;128&n.__u&&(c=32&n.__u,u=n.__c.__z)&&(t.__u|=c,g=r=[],u.nodeType==8?l=Ot(u,r):r.push(u),l=r[0]||l),(u=G.__b)&&u(t);e:if(typeof ee=="function"){$=i.length;try{if(b=t.props,y=(u=ee.prototype)&&u.render,E=(u=ee.contextType)&&o[u.__c],O=u?E?E.props.value:u.__:o,(d=n.__c)?(t.__c=d,2&d.__g&&(d.__g|=1)):(y?t.__c=d=new ee(b,O):(t.__c=d=new st(b,O),d.constructor=ee,d.render=xs),E&&E.sub(d),d.state||(d.state={}),d.__n=o,d.__g|=8,d.__h=[],d.__k=[]),y&&(d.__s||(d.__s=d.state),ee.getDerivedStateFromProps&&(d.__s==d.state&&(d.__s=et({},d.__s)),et(d.__s,ee.getDerivedStateFromProps(b,d.__s)))),m=d.props,f=d.state,d.__v=t,n.__c){if(b!==m&&y&&!ee.getDerivedStateFromProps&&d.componentWillReceiveProps&&d.componentWillReceiveProps(b,O),t.__v==n.__v&&!(8&d.__g)||!(4&d.__g)&&d.shouldComponentUpdate&&d.shouldComponentUpdate(b,d.__s,O)===!1){t.__v!=n.__v&&(d.props=b,d.state=d.__s,d.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(v){v&&(v.__=t)}),Nt.push.apply(d.__h,d.__k),d.__k=[],d.__h.length&&i.push(d),l=qe(n);break e}d.componentWillUpdate&&d.componentWillUpdate(b,d.__s,O),y&&d.componentDidUpdate&&d.__h.push(function(){d.componentDidUpdate(m,f,h)})}else y&&!ee.getDerivedStateFromProps&&d.componentWillMount&&d.componentWillMount(),y&&d.componentDidMount&&d.__h.push(d.componentDidMount);d.context=O,d.props=b,d.__P=e,d.__g&=-5,k=G.__r,A=y?25:0;do d.__g&=-9,k&&k(t),u=d.render(d.props,d.state=d.__s,d.context);while(8&d.__g&&++A<25);y&&(Nt.push.apply(d.__h,d.__k),d.__k=[]),d.state=d.__s,d.getChildContext&&(o=et({},o,d.getChildContext())),y&&n.__c&&d.getSnapshotBeforeUpdate&&(h=d.getSnapshotBeforeUpdate(m,f)),W=u&&u.type===Mt&&u.key==null?u.props.children:u,b.__P&&(u=l,s=(e=b.__P).namespaceURI,c=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(v){v&&fn(v,v)}),n.__k=null),l=n.__k?qe(n,0):null),l=co(e,un(W)?W:[W],t,n,o,s,r,i,l,c,p),b.__P&&(t.__e=null,l=u),t.__u&=-161,g&&g.some(Ze),d.__h.length&&i.push(d),1&d.__g&&(d.__g&=-4)}catch(v){if(i.length=$,t.__v=null,c||r)if(v&&v.then){if(t.__u|=128|c,r){for(~(z=r.indexOf(l||void 0))||(z=r.length);(J=r[z-1])&&J.nodeType==8;)z--;for(;z<r.length;z++)if(J=r[z])if(r[z]=null,Y){if(J==K)break}else{if(J.nodeType!=8)break;J.data.startsWith("$s")&&(K=Ot(Y=J))}}if(!Y){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;Y=l}(u=Ot(Y=t.__c.__z||(t.__c.__z=Y)))?(t.__e=Y,l=u):t.__e=l,l=l&&l.nextSibling}else r&&r.some(Ze);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),v&&v.then||po(t),G.__e(v,t,n)}}else l=t.__e=Es(n.__e,t,n,o,s,r,i,c,p,e);return(u=G.diffed)&&u(t),l}function Ot(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function po(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(po))}function mo(e,t,n){for(var o=0;o<n.length;)mn(n[o++],n[o++],n[o++]);G.__c&&G.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(r){r.call(s)})}catch(r){G.__e(r,s.__v)}})}function Es(e,t,n,o,s,r,i,l,c,p){var u,g,$,d,m,f,h,b,y=n.props||It,E=t.props,O=t.type;if(O=="svg"?s="http://www.w3.org/2000/svg":O=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(u=0;u<r.length;u++)if((m=r[u])&&(O?m.localName==O:m.nodeType==3)){e=m,r[u]=null;break}}if(!e){if(b=p.ownerDocument||document,!O)return b.createTextNode(E);e=b.createElementNS(s,O,E.is?E:p),l&&(G.__m&&G.__m(t,r),l=!1),r=null}if(O){if(p=O=="template"&&e.content||e,r=O=="textarea"&&E.defaultValue!=null?null:r&&pn.call(p.childNodes),!l&&r)for(y={},u=0;u<e.attributes.length;u++)y[(m=e.attributes[u]).name]=m.value;for(u in y)m=y[u],u=="dangerouslySetInnerHTML"?$=m:u=="children"||u in E||u=="value"&&"defaultValue"in E||u=="checked"&&"defaultChecked"in E||Dt(e,u,null,m,s);for(u in E)m=E[u],u=="children"?d=m:u=="dangerouslySetInnerHTML"?g=m:u=="value"?f=m:u=="checked"?h=m:l&&typeof m!="function"||y[u]===m||Dt(e,u,m,y[u],s);g?(l||$&&(g.__html==$.__html||g.__html==e.innerHTML)||(e.innerHTML=g.__html),t.__k=[]):($&&(e.textContent=""),(O=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&bs.test(O))&&(s="http://www.w3.org/1999/xhtml"),co(p,un(d)?d:[d],t,n,o,s,r,i,r?r[0]:n.__k&&qe(n,0),l,c),r&&r.some(Ze)),l&&O!="textarea"||(u="value",O=="progress"&&f==null?e.removeAttribute(u):f==null||f===e[u]&&(O!="progress"||f)||Dt(e,u,f,y[u],s),u="checked",h!=null&&h!=e[u]&&Dt(e,u,h,y[u],s))}else y===E||l&&e.data==E||(e.data=E);return e}function mn(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){G.__e(s,n)}}function fn(e,t,n){var o,s,r,i;if(G.unmount&&G.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||mn(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){G.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&fn(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=Ot(o,r=[]))&&(o==e.__e&&r.some(Ze),Ze(s),Ze(o)),n||Ze(e.__e),e.__e=e.__c=e.__=null}function xs(e,t,n){return this.constructor(e,n)}function fo(e,t){var n,o,s,r;G.__&&G.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=ut(Mt,{children:[e]}),s=[],r=[],dn(t,t.__k,o||It,It,t.namespaceURI,o?null:t.firstChild?pn.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,r),mo(s,t.__k,r),t.__k.props.children=null}G={__e:function(e,t,n,o){for(var s,r,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw At=0,e}},oo=0,gs=function(e){return e!=null&&e.constructor===pt},st.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=et({},this.state)),typeof e=="function"&&(e=e(et({},n),this.props)),e&&(et(n,e),this.__v&&(t&&this.__k.push(t),to(this)))},st.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),to(this))},st.prototype.render=Mt,Fe=[],At=0,ro=function(e,t){return e.__v.__b-t.__v.__b},Rt=Symbol(),so=/(PointerCapture)$|Capture$/i,cn=0,ln={},_s=0;var tt,oe,$n,$o,hn=Object.is,Lt=0,Eo=[],gn=[],ne=G,ho=ne.__b,go=ne.__r,_o=ne.diffed,bo=ne.__c,vo=ne.unmount,yo=ne.__;function mt(e,t){ne.__h&&ne.__h(oe,e,Lt||t),Lt=0;var n=oe.__H||(oe.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function _(e){return Lt=1,Ts(xo,e)}function Ts(e,t,n){var o=mt(tt++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):xo(void 0,t),function(r){var i=(o.__N||o.__)[0],l=o.t(i,r);hn(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=oe,!oe.__f)){oe.__f=!0;var s=oe.shouldComponentUpdate;oe.shouldComponentUpdate=function(r,i,l){var c=this.__H;if(!c)return!0;var p=!1,u=this.props!=r;if(c.__.some(function($){$.__N&&(p=!0,hn($.__[0],$.__N[0])||(u=!0))}),s){var g=s.call(this,r,i,l);return p?g||u:g}return!p||u}}return o.__}function R(e,t){var n=mt(tt++,3);!ne.__s&&bn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,oe.__H.__h.push(n))}function ft(e,t){var n=mt(tt++,4);!ne.__s&&bn(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,oe.__h.push(n))}function F(e){return Lt=5,de(function(){return{current:e}},[])}function de(e,t){var n=mt(tt++,7);return bn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function $t(){var e=mt(tt++,11);if(!e.__){for(var t=oe.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Ss(){var e;do{for(;e=gn.shift();)try{dt(e)}catch(n){ne.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=Eo.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(dt),t.__h.some(_n),t.__h=[]}catch(n){t.__h=[],ne.__e(n,e.__v)}}}while(gn.length)}ne.__b=function(e){oe=null,ho&&ho(e)},ne.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),yo&&yo(e,t)},ne.__r=function(e){go&&go(e),tt=0;var t=(oe=e.__c).__H;t&&($n==oe?oe.__h=[]:(t.__h.some(dt),t.__h.some(_n),tt=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),$n=oe},ne.diffed=function(e){_o&&_o(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&ko(Eo.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),$n=oe=null},ne.__c=function(e,t){t.some(function(n){try{n.__h.some(dt),n.__h=n.__h.filter(function(o){return!o.__||_n(o)})}catch(o){n.__h=[function(){throw o}]}}),bo&&bo(e,t)},ne.unmount=function(e){vo&&vo(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,ko(gn.push(s))}else dt(s)}catch(r){t=r}}),o.__H=void 0,t&&ne.__e(t,o.__v))};var wo=typeof requestAnimationFrame=="function";function Cs(e){var t,n=function(){clearTimeout(o),wo&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);wo&&(t=requestAnimationFrame(n))}function ko(e){e!=1&&$o==ne.requestAnimationFrame||(($o=ne.requestAnimationFrame)||Cs)(Ss)}function dt(e){var t=oe,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),oe=t}function _n(e){var t=oe;e.__c=e.__(),oe=t}function bn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!hn(n,e[o])})}function xo(e,t){return typeof t=="function"?t(e):t}var So=function(e,t,n,o){var s;t[0]=0;for(var r=1;r<t.length;r++){var i=t[r++],l=t[r]?(t[0]|=i?1:2,n[t[r++]]):t[++r];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++r]]=l:i===6?o[1][t[++r]]+=l+"":i?(s=e.apply(l,So(e,l,n,["",null])),o.push(s),l[0]?t[0]|=2:(t[r-2]=0,t[r]=s)):o.push(l)}return o},To=new Map;function Co(e){var t=To.get(this);return t||(t=new Map,To.set(this,t)),(t=So(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,r=1,i="",l="",c=[0],p=function($){r===1&&($||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?c.push(0,$,i):r===3&&($||i)?(c.push(3,$,i),r=2):r===2&&i==="..."&&$?c.push(4,$,0):r===2&&i&&!$?c.push(5,0,!0,i):r>=5&&((i||!$&&r===5)&&(c.push(r,0,i,s),r=6),$&&(c.push(r,$,0,s),r=6)),i=""},u=0;u<n.length;u++){u&&(r===1&&p(),p(u));for(var g=0;g<n[u].length;g++)o=n[u][g],r===1?o==="<"?(p(),c=[c],r=3):i+=o:r===4?i==="--"&&o===">"?(r=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(p(),r=1):r&&(o==="="?(r=5,s=i,i=""):o==="/"&&(r<5||n[u][g+1]===">")?(p(),r===3&&(c=c[0]),r=c,(c=c[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(p(),r=2):i+=o),r===3&&i==="!--"&&(r=4,c=c[0])}return p(),c})(e)),t),arguments,[])).length>1?t:t[0]}var a=Co.bind(ao);function ae(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function U(e){let[t,n]=_(e.get());return R(()=>(n(e.get()),e.subscribe(n)),[e]),t}function Do(e){let t=ae(null);try{t.set(JSON.parse(sessionStorage.getItem(e)))}catch{}return t.subscribe(n=>{try{sessionStorage.setItem(e,JSON.stringify(n))}catch{}}),t}function jt(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=ae(n);return o.subscribe(s=>{try{localStorage.setItem(e,s)}catch{}}),o}var Pt=()=>location.pathname+location.search,nt=ae(Pt()),Ro=0;addEventListener("popstate",()=>nt.set(Pt()));function me(e,{replace:t=!1}={}){e!==Pt()&&(t?history.replaceState(history.state,"",e):(Ro++,history.pushState({depth:Ro},"",e)),nt.set(Pt()))}function Oo(){history.state?.depth>0?history.back():me("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():me(t.pathname+t.search))});function q(){let e=U(nt);return[de(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:s=!0}={})=>{let r=new URLSearchParams(location.search);for(let[l,c]of Object.entries(o)){r.delete(l);for(let p of[c].flat())p&&r.append(l,p)}let i=r.toString();me(location.pathname+(i?`?${i}`:""),{replace:s})}]}function re(e){R(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function Ao(e,t){for(let[n,o]of t){let s=n.exec(e);if(s)try{return[o,s.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function ke(e,t,n=200){let[o,s]=_(e);return R(()=>s(e),[e]),R(()=>{if(o===e)return;let r=setTimeout(()=>t(o),n);return()=>clearTimeout(r)},[o]),[o,s]}var Ee=ae({online:!0}),Ue=ae(0),ht=null;function Ft(){Ee.get().online||(clearTimeout(ht),ht=null,Ee.set({online:!0}),Ue.set(Ue.get()+1))}function gt(e){let t=Ee.get();Ee.set({online:!1,since:t.since??Date.now(),message:e}),ht===null&&(ht=setTimeout(Io,1e3))}async function Io(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return Ft();let t=await e.json().catch(()=>null);t?.message&&Ee.set({...Ee.get(),message:t.message})}catch{}Ee.get().online||(ht=setTimeout(Io,1e3))}var We=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function X(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function qt(e={}){let t=new URLSearchParams;for(let[o,s]of Object.entries(e))for(let r of Array.isArray(s)?s:[s])r!=null&&r!==""&&r!==!1&&r!==0&&t.append(o,r);let n=t.toString();return n?`?${n}`:""}var vn=0n,No=0,He=()=>Date.now()+No;function Mo(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:vn.toString()}}function Ds(e){try{let t=BigInt(e?.revision??0);t>vn&&(vn=t)}catch{}}async function Ie(e,t,{query:n,body:o,signal:s}={}){let r={method:e,signal:s,headers:{Accept:"application/json"}};o!==void 0&&(r.headers["Content-Type"]="application/json",r.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+qt(n),r),l=i.ok?await i.json():await i.json().catch(()=>null)}catch(c){throw s?.aborted?c:(gt("The server does not answer."),new We(0))}return Ut(i,l)}function Ut(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let s=n-Date.now();No=Math.abs(s)>2e3?s:0}if(e.ok)return Ft(),Ds(t),t??{};let o=new We(e.status,t);throw o.offline?gt(o.message):Ft(),e.status===401&&Rs(),o}var Wt=e=>e<40?1e4:e<300?3e4:6e4,T=(e,t,n)=>Ie("GET",e,{query:t,signal:n}),x=(e,t,n)=>Ie("POST",e,{body:t,signal:n}),_t=(e,t,n)=>Ie("PUT",e,{body:t,signal:n}),Lo=(e,t)=>Ie("DELETE",e,{query:t});function Rs(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${qt({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function Be(e,t,n,o,s=5e3){let r=[],i="";do{let l=await T(e,{page_size:1e3,...t,page_token:i},o);r.push(...l[n]??[]),i=l.next_page_token??""}while(i&&r.length<s);return{items:r,more:i!==""}}var w=e=>Number(e??0).toLocaleString("en"),S=(e,t,n)=>`${w(e)} ${Number(e)===1?t:n}`,N=e=>e?Math.round(parseFloat(e)*1e3):0;function he(e){if(!e)return"0s";if(e<0)return`-${he(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let s=Math.floor(e/o);s&&(t+=s+n),e-=s*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function Z(e){return e<0?"0s":e<1e4?he(Math.round(e/100)*100):e<36e5?he(Math.round(e/1e3)*1e3):e<48*36e5?he(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var at=e=>Z(Math.max(0,Math.round(e/1e3))*1e3),Os={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function ye(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,s,r)=>(t+=parseFloat(s)*Os[r],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var Ne=e=>e==null?"":he(N(e));var ot=e=>e.charAt(0).toUpperCase()+e.slice(1),vt=(e="")=>{let t=ot(e);return/[.!?…]$/.test(t)?t:`${t}.`},bt=e=>String(e).padStart(2,"0");function M(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${bt(t.getMonth()+1)}-${bt(t.getDate())}`} ${Ht(t)}`}var Ht=e=>`${bt(e.getHours())}:${bt(e.getMinutes())}:${bt(e.getSeconds())}`;function Me(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(He()).toDateString()?Ht(t):M(e)}function fe(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function Ke(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${w(n)} more`:"")}function yn(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var ge=ae(null),Kt=jt("author",""),we=()=>ge.get()?.authenticated?{}:{author:Kt.get()||"dashboard"};async function wn(){let e=await T("/session");ge.set({authenticates:e.authenticated??!1,...e}),Bt.clear()}async function jo(e){await Ie("POST","/session",{body:{token:e}}),await wn()}async function Po(){await Ie("DELETE","/session"),ge.set(null)}var Bt=new Map;function As(e){let t=JSON.stringify(e),n=Bt.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:x("/v1/can-i",e)},n.answer.catch(()=>Bt.delete(t)),Bt.set(t,n)),n.answer}function Fo(e,t="",n="",o=""){let s=U(ge),[r,i]=_("");return R(()=>{if(!e||!s?.authenticated)return i("");let l=!1;return As({role:e,semaphore:t,group:n,acquirer:o}).then(c=>l||i(c.allowed?"":vt(c.reason)),()=>l||i("")),()=>l=!0},[e,t,n,o,s]),r}var Is=4e4,Ns=5e3;function Uo(e,t,n){let o=!1,s=0,r=!1,i="",l=null,c=null,p=()=>{clearTimeout(c),l?.abort(),l=null},u=()=>{o=!0,p(),document.removeEventListener("visibilitychange",g)},g=()=>{document.hidden?p():l||d()},$=m=>{if(m.id&&(i=m.id),!m.data)return;let f=JSON.parse(m.data);if(m.type==="end")u(),n.end?.();else if(m.type==="error"){let h=new We(f.status??500,f);qo(f.code)||(u(),n.error?.(h))}else n[m.type]?.(f,m.id)};async function d(){clearTimeout(c);let m=l=new AbortController,f=null,h=()=>{clearTimeout(f),f=setTimeout(()=>m.abort(),Is)};try{h();let b={Accept:"text/event-stream"};i&&(b["Last-Event-ID"]=i);let y=await fetch(e+qt(t),{headers:b,signal:m.signal});if(!y.ok||!y.headers.get("Content-Type")?.startsWith("text/event-stream"))throw Ut(y,await y.json().catch(()=>null)),new We(500,{message:"The answer is not a stream of events."});s=0,Ut(y,{}),n.open?.(r),r=!0,await Ms(y.body,E=>!o&&$(E),h)}catch(b){b instanceof We?!b.offline&&!qo(b.code)&&b.status!==401?(u(),n.error?.(b)):b.status===401&&u():m.signal.aborted||gt("The connection to the server broke.")}finally{clearTimeout(f)}o||l!==m||(l=null,!document.hidden&&(s++,c=setTimeout(d,Math.min(Ns,500*s)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",g),document.hidden||d(),u}var qo=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function Ms(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),s="",r={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let c=(s+i).split(`
`);s=c.pop();for(let p of c){if(p.endsWith("\r")&&(p=p.slice(0,-1)),p===""){t(r),r={type:"message",id:"",data:""};continue}let u=p.indexOf(":");if(u<=0)continue;let g=p.slice(u+1).replace(/^ /,"");switch(p.slice(0,u)){case"event":r.type=g;break;case"id":r.id=g;break;case"data":r.data+=g}}}}var Ls=1e4;function C(e,t,{every:n=0,keep:o=!1}={}){let[s,r]=_({}),[i,l]=_(0),c=U(Ue),p=JSON.stringify(t),u=F(e);u.current=e;let g=F(0);R(()=>{if(e===null)return;let m=new AbortController,f=h=>{m.signal.aborted||(g.current=0,r(h))};return g.current=Date.now(),u.current(m.signal).then(h=>f({data:h,key:p}),h=>f(b=>({...b,error:h,failed:p}))),()=>m.abort()},[p,i,c,e===null]),R(()=>{if(!n)return;let m=setInterval(()=>document.hidden||Date.now()-g.current<Ls||l(f=>f+1),n);return()=>clearInterval(m)},[n]);let $=s.key===p,d=s.failed===p?s.error:void 0;return{data:$||o?s.data:void 0,error:d,loading:!$&&!d,refresh:()=>l(m=>m+1),set:m=>r(f=>{let h=m(f.key===p?f.data:void 0);return h===void 0?f:{data:h,key:p}})}}function Ce(e,t,n){let o=F(n);o.current=n;let s=JSON.stringify([e,t]);R(()=>{if(!e)return;let r=i=>(...l)=>o.current[i]?.(...l);return Uo(e,t,{message:r("message"),live:r("live"),missed:r("missed"),open:r("open"),error:r("error"),end:r("end")})},[s])}var kn=ae(0),Wo=null,Ho=0;function Le(){return R(()=>(Ho++===0&&(Wo=setInterval(()=>document.hidden||kn.set(kn.get()+1),1e3)),()=>{--Ho===0&&clearInterval(Wo)}),[]),U(kn)}function ze(e,t,{rest:n=t,burst:o=4}={}){let s=F(e);s.current=e;let r=F(null),i=F(0);return R(()=>()=>clearTimeout(r.current),[]),()=>{if(r.current!==null)return;let l=performance.now();i.current=Math.max(i.current,l)+n,r.current=setTimeout(()=>{r.current=null,s.current()},Math.max(t,i.current-l-o*n))}}function zt(e){let[t,n]=_(()=>matchMedia(e).matches);return R(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}function _e({what:e="Reading"}){return a`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function I({title:e,children:t}){return a`<div class="empty"><p class="empty-title">${e}</p>${t&&a`<p>${t}</p>`}</div>`}function V({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return a`<div class="failure" role="alert">
    <p class="failure-text">${vt(e.message)}</p>
    ${e.code==="UNAUTHENTICATED"&&a`<p>Log in again.</p>`}
    ${n.length>0&&a`<ul>${n.map(o=>a`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&a`<p>The outcome of a change is unknown; Activity shows it. Pressing the same button again is
      safe: it does nothing twice.</p>`}
    <p class="row">
      ${t&&a`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&a`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}function H({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?a`<${V} error=${e.error} retry=${e.refresh} />`:a`<${_e} what=${t} />`:a`${e.error&&!e.error.offline&&a`<${V} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function Bo(){let e=U(Ee);return Le(),e.online?a`<div role="status" class="sr-only"></div>`:a`<div class="offline" role="status">
    <strong>${vt(e.message)}</strong>
    <span> What is shown is as of ${Ht(new Date(e.since))}. This page retries every second and
    recovers automatically.</span>
  </div>`}var yt=ae([]),js=0;function xe(e,{tone:t="run",action:n}={}){yt.set([...yt.get().slice(-2),{id:++js,text:e,tone:t,action:n}])}var En=e=>yt.set(yt.get().filter(t=>t.id!==e));function Ps({id:e,text:t,tone:n,action:o}){return R(()=>{let s=setTimeout(()=>En(e),o?15e3:6e3);return()=>clearTimeout(s)},[e]),a`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&a`<button type="button" onClick=${()=>(En(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>En(e)}>×</button>
  </div>`}function Ko(){let e=U(yt);return a`<div class="notices" role="status">${e.map(t=>a`<${Ps} key=${t.id} ...${t} />`)}</div>`}function L({role:e,semaphore:t,group:n,acquirer:o,why:s,kind:r="",children:i,onClick:l,type:c="button",...p}){let u=Fo(e,t,n,o),g=$t(),$=u||s;return a`<span class="action">
    <button
      type=${$?"button":c}
      class=${r}
      aria-disabled=${$?"true":void 0}
      aria-describedby=${$?g:void 0}
      onClick=${$?void 0:l}
      ...${p}
    >${i}</button>
    ${$&&a`<span class="why" role="tooltip" id=${g}>${$}</span>`}
  </span>`}function ie({title:e,onClose:t,wide:n,firm:o,children:s}){let r=F(null),i=$t();return ft(()=>{let l=document.activeElement,c=r.current;return c.showModal(),()=>{c.close(),l?.isConnected&&l.focus()}},[]),a`<dialog
    ref=${r}
    class=${n?"wide":""}
    aria-labelledby=${i}
    onCancel=${l=>(l.preventDefault(),t())}
    onMouseDown=${l=>!o&&l.target===r.current&&t()}
  >
    <div class="dialog-body">
      <header class="dialog-head">
        <h2 id=${i}>${e}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${t}>×</button>
      </header>
      ${s}
    </div>
  </dialog>`}function zo({label:e,help:t,error:n,children:o,class:s=""}){let r=$t(),i=[t&&`${r}-help`,n&&`${r}-error`].filter(Boolean).join(" ")||void 0;return a`<div class="field ${s}">
    <label for=${r}>${e}</label>
    ${o({id:r,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&a`<p class="help" id="${r}-help">${t}</p>`}
    ${n&&a`<p class="error" id="${r}-error" role="alert">${n}</p>`}
  </div>`}function D({label:e,help:t,error:n,value:o,onInput:s,area:r,class:i,...l}){return a`<${zo} label=${e} help=${t} error=${n} class=${i}>
    ${c=>r?a`<textarea rows=${r} value=${o} onInput=${p=>s(p.target.value)} ...${c}
          ...${l}></textarea>`:a`<input value=${o} onInput=${p=>s(p.target.value)} autocomplete="off" spellcheck=${!1}
          ...${c} ...${l} />`}
  <//>`}function be({label:e,help:t,error:n,value:o,options:s,onChange:r,class:i}){return a`<${zo} label=${e} help=${t} error=${n} class=${i}>
    ${l=>a`<select value=${o} onChange=${c=>r(c.target.value)} ...${l}>
      ${s.map(([c,p])=>a`<option value=${c} selected=${c===o}>${p}</option>`)}
    </select>`}
  <//>`}function ce({label:e,help:t,checked:n,onChange:o}){let s=$t();return a`<div class="check">
    <input type="checkbox" id=${s} checked=${n} aria-describedby=${t?`${s}-help`:void 0}
      onChange=${r=>o(r.target.checked)} />
    <label for=${s}>${e}</label>
    ${t&&a`<span class="help" id="${s}-help">${t}</span>`}
  </div>`}function it({of:e,query:t="tab",label:n}){let[o]=q(),s=o.get(t)??e[0][0],r=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let c=l.toString();return location.pathname+(c?`?${c}`:"")};return a`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>a`<a href=${r(i)} aria-current=${i===s?"page":void 0}>${l}</a>`)}
  </nav>`}function Vo(e){let t=F(e);t.current=e,R(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let s=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);s&&o.key!=="Escape"||t.current[o.key]?.(o,s)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function j(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Vt=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_CORDONED",word:"cordoned",tone:"deny",help:"Cordons alone keep its callers out."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Work that is expected did not run."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"A caller is waiting in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"A permit is held."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"No slot is taken."}],Fs={value:"",word:"unknown",tone:"idle",help:""},Jo=e=>Vt.find(t=>t.value===e)??Fs,wt=e=>Vt.filter(t=>e.states?.includes(t.value));function Go(e){let t=wt(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${Me(e.pause.until)}`:"paused":t?.word??"unknown"}function kt(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(qs(e.pause)),e.missed&&t.push(Us(e.missed));for(let n of(e.denied??[]).slice(0,1))t.push(xn(n));for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: ${n.fields.length===1?"reverts":"revert"} at ${M(n.until)}.`);return[...t,...e.warnings??[]]}function Qo(e){let t=e.denied?.[0];return t&&!e.disabled&&!e.pause&&!e.missed?`${j(t.reason,"REASON_")}: ${P(t.identity)}, ${Yo(t)}`:kt(e)[0]}var Yo=e=>e.count>1?`since ${Me(e.first)}`:`once at ${Me(e.last)}`,xn=e=>`${P(e.identity)} is denied, ${Yo(e)}: ${e.message}`;function qs(e){let t=e.until?`Paused until ${M(e.until)}`:"Paused until resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${Z(N(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function Us(e){let t=j(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${j(e.reason,"REASON_")})`:""}`}var P=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Xo(e){let t=j(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${Z(N(e.drain_left))}`);let n=j(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Zo=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function Je(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var $e=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How many slots there are: how many holders at once, each with its weight. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What happens to the slot when a permit expires. hold: it stays taken until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"A caller may take the permit of a holder that it considers dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work should run. It shows as missed when it does not. Empty: no expectation."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What happens to a firing whose permit is lost. free: it can be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What happens to firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How late such a firing may still run."}];function Ve(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return Ne(n);case"choice":return j(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function Tn(e,t){return $e.map(n=>({field:n,before:Ve(n,e),after:Ve(n,t)})).filter(n=>n.before!==n.after)}var Sn=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(r=>`${r.acquirer} in ${r.group}`),s=t-o.length;return o.join(", ")+(s>0?` and ${w(s)} more`:"")};function er(e=[]){let t=e.flatMap(r=>r.stopped??[]);if(t.length===0)return"No holder has to stop.";let n=t.filter(r=>r.drain_left).length,o=[];t.length>n&&o.push(`${S(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let s=`${o.join(", ")}. Every slot is free within ${Z(Math.max(...t.map(r=>N(r.free_within))))}.`;return s[0].toUpperCase()+s.slice(1)}function tr(e=[],t=[]){let n=new Map;for(let o of e)for(let s of o.warnings??[])n.set(s,[...n.get(s)??[],o.semaphore]);return[...t,...[...n].map(([o,s])=>`${Ke(s)}: ${o}`)]}var Ws=e=>`${e.length===1?"change":"changes"} ${Ke(e,5)}`,je=e=>[e.group_pattern&&`group ${e.group_pattern}`,e.acquirer_pattern&&`acquirer ${e.acquirer_pattern}`].filter(Boolean).join(" or "),lt=e=>e.until?`until ${Me(e.until)}`:"until the cordon is removed",Hs=e=>`${je(e)} ${lt(e)}`;function nr(e){let t=[],n=j(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${M(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${M(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${Z(N(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${Hs(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let r=e.firings.firings.map(l=>Je(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${S(r.length,"firing","firings")} ${i} (${Ke(r)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undone_by&&e.undone_by!=="0"&&t.push(`undone by change ${e.undone_by}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${Ws([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${P(e.permit.identity)}, token ${e.permit.token}`);let s=j(e.missed,"MISSED_KIND_");return s&&t.push(s),e.drain&&t.push(`drain ${Z(N(e.drain))}`),[...new Set(t)].join("; ")}var or=e=>e==="EVENT_KIND_REPLACED"?"edited":j(e,"EVENT_KIND_"),Bs={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},rr=e=>Bs[j(e,"EVENT_KIND_")]??"idle",sr=e=>(!e.undone_by||e.undone_by==="0")&&["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function Et(e){let t=j(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function B({caption:e,columns:t,rows:n,rowKey:o,empty:s,note:r,wide:i}){return n?.length?a`<div class=${i?"table-wrap wide":"table-wrap"}>
    <table>
      <caption class="sr-only">${e}</caption>
      <thead><tr>${t.map(([l,,c])=>a`<th scope="col" class=${c}>${l}</th>`)}</tr></thead>
      <tbody>
        ${n.map((l,c)=>a`<tr key=${o?o(l):c}>
          ${t.map(([p,u,g],$)=>$===0?a`<th scope="row" class=${g} data-label=${p}>${u(l)}</th>`:a`<td class=${g} data-label=${p}>${u(l)}</td>`)}
        </tr>`)}
      </tbody>
    </table>
    ${r&&a`<p class="faint">${r}</p>`}
  </div>`:s??a`<${I} title="Nothing here." />`}function Te({of:e}){return a`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>a`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function ve({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return a`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function Jt({at:e,of:t,what:n="expires unless it is refreshed"}){if(Le(),!e)return a`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),s=t&&o/t<.34;return a`<span class="deadline" title=${n}>
    ${t>0&&a`<${ve} share=${o/t} tone=${s?"wait":"run"} label="${at(o)} left" />`}
    <span class="num">${at(o)}</span>
  </span>`}function le({at:e}){return Le(),e?a`<time class="num" datetime=${e}
    title=${M(e)}>${at(He()-Date.parse(e))}</time>`:"–"}function ar({parts:e,total:t,label:n}){let o=0;return a`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([s])=>s>0).map(([s,r])=>{let i=t?1e3*s/t:0,l=a`<rect class="fill-${r}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var Ge=50;function Cn({before:e,after:t}){if(!e&&!t)return null;if(!e)return a`<span>created</span>`;if(!t)return a`<span>deleted</span>`;let n=Tn(e,t);return n.length===0?a`<span class="faint">–</span>`:a`<ul class="changes">
    ${n.map(o=>a`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function Ks({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:a`<section>
    <h3>Must stop</h3>
    <${B}
      caption="Holders that must stop"
      rows=${t.slice(0,Ge)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>P(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>a`<${le} at=${n.permit.granted_at} />`,"num"],["Slot free within",n=>Z(N(n.free_within))+(n.drain_left?` (its drain had ${Z(N(n.drain_left))} left)`:""),"num"]]}
      note=${`${t.length>Ge?`And ${w(t.length-Ge)} more. `:""}A slot is free when its holder
        releases it, and at the latest when its drain and then its permit run out.`}
    />
  </section>`}function Dn({of:e}){let{confirm:t=[],warnings:n=[]}=e;return a`${t.length>0&&a`<ul class="confirm">${t.map(o=>a`<li>${o.text}</li>`)}</ul>`}
    ${n.length>0&&a`<ul class="warnings">${n.slice(0,20).map(o=>a`<li>${o}</li>`)}</ul>`}`}function ir({of:e}){let t=e.effects??[],n=t.filter(r=>r.total_admitted||r.total_shut_out||!r.before!=!r.after||Tn(r.before,r.after).length),o=t.flatMap(r=>r.held??[]),s=t.filter(r=>Number(r.waiting_tasks));return a`<div class="effects">
    <p class="lead">${er(t)}</p>
    <${Dn} of=${{confirm:e.confirm,warnings:tr(t,e.warnings)}} />
    ${n.length>0&&a`<section>
      <h3>${S(n.length,"semaphore changes","semaphores change")}</h3>
      <${B}
        caption="Semaphores that change"
        rows=${n.slice(0,Ge)}
        rowKey=${r=>r.semaphore}
        columns=${[["Semaphore",r=>r.semaphore,"name"],["Changes",r=>a`<${Cn} before=${r.before} after=${r.after} />`],["Newly admitted",r=>Sn(r.admitted,r.total_admitted??0)||"–"],["Shut out",r=>Sn(r.shut_out,r.total_shut_out??0)||"–"],["Will stop",r=>w(r.stopped?.length),"num"],["Will continue",r=>w(r.unaffected),"num"]]}
        note=${n.length>Ge&&`and ${w(n.length-Ge)} more`}
      />
    </section>`}
    <${Ks} effects=${t} />
    ${o.length>0&&a`<section><h3>Held for an operator</h3>
      <ul>${o.slice(0,Ge).map(r=>a`<li>${r.semaphore}: the permit of ${P(r.identity)} (token ${r.token}) expired. Its slot stays taken until
          it is cleared.</li>`)}</ul>
    </section>`}
    ${s.length>0&&a`<ul>${s.slice(0,Ge).map(r=>a`<li>${r.semaphore}: ${S(r.waiting_tasks,"task is waiting","tasks are waiting")} for a
        worker${r.tasks_run?`; after this change, ${r.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}var On=e=>e.change??e.revision??e.cordon?.revision;function Q(e){let{title:t,verb:n,kind:o,preview:s,run:r,done:i,onClose:l,onDone:c,onError:p,role:u,semaphore:g,nothing:$,deps:d,extra:m,children:f}=e,{show:h=Se=>a`<${ir} of=${Se} />`,undoable:b=!0,journal:y=!0}=e,[E,O]=_(0),k=C(s,[t,E,d],{keep:!0}),A=k.loading||k.error,[W,Y]=_(""),[K,z]=_(!1),[J,ee]=_(null),v=F(null),ue=k.data&&$?.(k.data);R(()=>{k.error&&p?.(k.error)===!0&&l()},[k.error]),R(()=>{v.current=null},[JSON.stringify(d)]);let se=()=>{v.current=null,ee(null),O(E+1)};async function Ae(Se){if(Se.preventDefault(),!(K||A||ue)){z(!0),ee(null),v.current??=Mo();try{let pe=await r({reason:W,...we(),...v.current},k.data),rt=On(pe),hs=b&&rt&&rt!=="0"?{text:"Undo",run:()=>xt(rt)}:void 0;xe(i(pe),{action:hs}),c?.(pe,k.data),l()}catch(pe){pe.code!=="UNAVAILABLE"&&(v.current=null),z(!1);let rt=p?.(pe);rt===!0?l():rt!=="shown"&&ee(pe)}}}return a`<${ie} title=${t} onClose=${l} wide firm=${!!f}>
    <form onSubmit=${Ae}>
      ${f}
      <${H} of=${k} what="Previewing the change">
        ${Se=>a`${m?.(Se)}${h(Se)}${Se.notes?.length>0&&a`<ul>${Se.notes.map(pe=>a`<li>${pe}</li>`)}</ul>`}
        ${ue&&a`<p class="lead">${ue}</p>`}`}
      <//>
      ${y&&a`<${D} label="Reason" help="Why you are doing this. Shown in Activity." value=${W}
        onInput=${Y} maxlength="1024" />`}
      ${J&&a`<${V} error=${J}
        retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(J.reason)?se:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${L} role=${u} semaphore=${g} type="submit" kind=${o??"primary"}
          why=${A?"The preview is not ready yet.":ue}>
          ${K?"Working …":typeof n=="function"?n(k.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var Rn=ae(null);function xt(e,t){Rn.set({change:String(e),onDone:t})}function lr(){let e=U(Rn);return e?a`<${Q}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb=${`Undo change ${e.change}`}
    preview=${()=>x("/v1/undo",{change:e.change,dry_run:!0,...we()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`Already undone, by change ${t.undone_by}.`:t.nothing?"There is nothing left to undo.":""}
    run=${(t,n)=>x("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} undone.`}
    onDone=${e.onDone}
    onClose=${()=>Rn.set(null)}
  />`:null}var zs=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],An=jt("theme","auto");An.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function Vs(){let e=U(An),t={auto:"light",light:"dark",dark:"auto"}[e];return a`<button type="button" class="plain" onClick=${()=>An.set(t)}
    title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" />
      <path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var Js=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","This help"]],Gs=[["Semaphore","A named rule: which groups and hosts may run a task, and how many at once."],["Permit","What a caller holds while it runs. It expires unless the holder refreshes it."],["Group","Where a caller runs, for example a zone. Moving work changes the group that a rule admits."],["Acquirer","The caller’s name, normally its host."],["Drain","How long a holder that must stop may continue."],["Cordon","Shuts a group or a host out of every semaphore."],["Firing","One run of a schedule, such as last night’s. It is claimed once in the cluster."],["Job","A list of tasks that workers share."]];function Qs({onClose:e}){return a`<${ie} title="Help" onClose=${e}>
    <h3>Words</h3>
    <dl class="keys">${Gs.map(([t,n])=>a`<div><dt>${t}</dt><dd>${n}</dd></div>`)}</dl>
    <h3>Keys</h3>
    <dl class="keys">${Js.map(([t,n])=>a`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function Ys(){let e=U(ge),t=U(Kt),[n,o]=_(!1);if(!e)return null;let s=e.authenticated?e.principal||e.credential:t||"dashboard";return a`<button type="button" class="plain who" onClick=${()=>o(!0)}>
    <span class="sr-only">You are </span>${s}</button>
    ${n&&a`<${ie} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?a`<p>The servers see you as <strong>${e.principal}</strong>,
          by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button"
              onClick=${()=>Po().catch(()=>{}).then(()=>me("/login"))}>Log out</button></p>`:a`<p>These servers do not authenticate callers. Everyone may do everything.</p>
            <${D} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it."
              value=${t} onInput=${r=>Kt.set(r)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function Xs(){let e=C(o=>T("/v1/status",{},o),["status"],{every:1e4,keep:!0}),t=U(Ee).online,n=e.data;return t?n?a`<a class="leader" href="/cluster">
    ${n.leader_id?a`<span class="lamp tone-run" aria-hidden="true"></span><span>${n.leader_id}
      <span class="long"> leads</span></span>`:a`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:a`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`:a`<a class="leader" href="/cluster">
    <span class="lamp tone-deny" aria-hidden="true"></span>no answer</a>`}var Zs={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function Gt({children:e,bare:t}){let n=U(nt).split("?")[0],[o,s]=_(!1),r=F(null),i=F(!0),l=F(0);return R(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),r.current?.querySelector("h1")?.focus()},[n]),Vo({"?":()=>s(!0),"/":c=>{let p=document.querySelector("[data-search]");p&&(c.preventDefault(),p.focus(),p.select())},Escape:(c,p)=>{p?c.target.blur():n!=="/"&&Oo()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(Zs).map(([c,p])=>[c,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${p}"]`)?.click()]))}),a`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&a`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" /><span>Gatekeeper</span></a>
      <nav class="nav" aria-label="Views">
        ${zs.map(([c,p])=>{let u=c==="/"?n==="/"||n.startsWith("/s/"):n===c||n.startsWith(`${c}/`);return a`<a href=${c} aria-current=${u?"page":void 0}>${p}</a>`})}
      </nav>
      <div class="tools">
        <${Xs} />
        <${Ys} />
        <${Vs} />
        <button type="button" class="plain" onClick=${()=>s(!0)} title="Help">
        <span aria-hidden="true">?</span><span class="sr-only">Help</span></button>
      </div>
    </header>`}
    <${Bo} />
    <main id="main" tabindex="-1" ref=${r}>${e}</main>
    <${Ko} />
    <${lr} />
    ${o&&a`<${Qs} onClose=${()=>s(!1)} />`}`}function te({children:e,aside:t}){return a`<div class="title">
    <h1 tabindex="-1">${e}</h1>${t&&a`<div class="row">${t}</div>`}</div>`}var In=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens; it has no scope"]],Qt=In.map(([e])=>[`ROLE_${e.toUpperCase()}`,e]);var cr=e=>e.split(`
`).map(t=>t.trim()).filter(Boolean),pr=e=>({role:e.role,semaphores:(e.semaphores??[]).join(`
`),labels:e.labels??"",group:e.group??"",acquirer:e.acquirer??""}),Nn=e=>({name:e?.name??"",subjects:(e?.subjects??[]).join(`
`),grants:(e?.grants??[{role:"ROLE_VIEWER"}]).map(pr)}),ur=e=>({name:e.name.trim(),subjects:cr(e.subjects),grants:e.grants.map(t=>({role:t.role,semaphores:cr(t.semaphores),labels:t.labels.trim(),group:t.group,acquirer:t.acquirer}))}),Mn=e=>[...(e?.subjects??[]).map(t=>`subject ${t}`),...(e?.grants??[]).map(t=>`grant ${Et(t)}`)];function ea({was:e,is:t}){let[n,o]=[Mn(e),Mn(t)],s=o.filter(i=>!n.includes(i)),r=n.filter(i=>!o.includes(i));return s.length+r.length===0?null:a`<ul class="changes">
    ${s.map(i=>a`<li><span class="sr-only">adds </span><ins>${i}</ins></li>`)}
    ${r.map(i=>a`<li><span class="sr-only">removes </span><del>${i}</del></li>`)}
  </ul>
  ${r.length>0&&a`<p>Callers lose what is removed at once.</p>`}`}function ta({number:e,value:t,set:n,remove:o,error:s}){let r=i=>l=>n({...t,[i]:l});return a`<fieldset class="grant">
    <legend>Grant ${e}</legend>
    <div class="form">
      <${be} label="Role" value=${t.role} options=${Qt} onChange=${r("role")}
        error=${s("role")} />
      <${D} label="Semaphores" area=${2} value=${t.semaphores} onInput=${r("semaphores")}
        error=${s("semaphores")} help="Names or globs, one on each line. Empty: all." />
      <${D} label="Labels" value=${t.labels} onInput=${r("labels")} error=${s("labels")}
        help="A selector, as team=data. Empty: any." />
      <${D} label="Group" value=${t.group} onInput=${r("group")} error=${s("group")}
        help="A pattern of the groups as which callers may act. Empty: any." />
      <${D} label="Acquirer" value=${t.acquirer} onInput=${r("acquirer")} error=${s("acquirer")}
        help="The same for acquirers." />
    </div>
    <p class="row end"><button type="button" onClick=${o}>Remove grant ${e}</button></p>
  </fieldset>`}function na(){let[e,t]=_([]),n=o=>s=>s.field===o||s.field.startsWith(`${o}[`);return{error:o=>e.find(n(o))?.rule,clear:()=>t([]),take(o,s){return t(o.fields),o.fields.length>0&&o.fields.every(r=>s.some(i=>n(i)(r)))}}}function dr({binding:e,onClose:t,onDone:n}){let[o,s]=_(e),[r,i]=_(()=>Nn(e)),[l,c]=_(null),p=na(),u=ur(r),g=de(()=>JSON.stringify(ur(Nn(o))),[o]),$=b=>{p.clear(),i({...r,...b})},d=b=>y=>$({grants:r.grants.map((E,O)=>O===b?y:E)}),m=["binding.name","binding.subjects"];r.grants.forEach((b,y)=>m.push(...Object.keys(b).map(E=>`binding.grants[${y}].${E}`)));let f=b=>{if(b.reason!=="STALE_VERSION")return p.take(b,m)&&"shown";T("/v1/bindings").then(y=>c(y.bindings.find(E=>E.name===u.name)),()=>{})},h=b=>{s(l),b||i(Nn(l)),c(null)};return a`<${Q}
    title=${e?`Edit binding ${e.name}`:"Create a binding"}
    verb=${o?"Save":"Create"}
    role="ROLE_ADMIN"
    deps=${[u,o?.revision]}
    preview=${async()=>({})}
    show=${()=>a`<${ea} was=${o} is=${u} />`}
    nothing=${()=>l?"Choose what becomes of the change of somebody else.":u.name?o&&g===JSON.stringify(u)?"Nothing was changed.":"":"It needs a name."}
    run=${({reason:b})=>_t(X`/v1/bindings/${u.name}`,{binding:u,expected_revision:o?.revision,reason:b})}
    done=${()=>`Binding ${u.name} is ${o?"saved":"created"}.`}
    onError=${f}
    onClose=${t}
    onDone=${n}
  >
    ${l&&a`<div class="note" role="alert">
      <p>${l.updated_by||"Somebody"} saved this binding at ${M(l.updated_at)}, while you
      edited it. It is now:</p>
      <ul>${Mn(l).map(b=>a`<li>${b}</li>`)}</ul>
      <p class="row">
        <button type="button" onClick=${()=>h(!0)}>Keep my values</button>
        <button type="button" onClick=${()=>h(!1)}>Take these values</button>
      </p>
    </div>`}
    <div class="form">
      ${!e&&a`<${D} label="Name" value=${r.name} onInput=${b=>$({name:b})}
        error=${p.error("binding.name")}
        help="The principal: the author of changes, and the owner of permits." autofocus />`}
      <${D} label="Subjects" area=${3} value=${r.subjects} onInput=${b=>$({subjects:b})}
        error=${p.error("binding.subjects")}
        help="One on each line: cert:NAME, spiffe://DOMAIN/PATH or oidc:CLAIM=VALUE. None: only bearer tokens." />
    </div>
    ${r.grants.map((b,y)=>a`<${ta} key=${y} number=${y+1} value=${b} set=${d(y)}
        remove=${()=>$({grants:r.grants.filter((E,O)=>O!==y)})}
        error=${E=>p.error(`binding.grants[${y}].${E}`)} />`)}
    <p><button type="button" onClick=${()=>$({grants:[...r.grants,pr({role:"ROLE_VIEWER"})]})}>Add a grant</button></p>
  <//>`}function mr({binding:e,onClose:t,onDone:n}){let o=e.subjects??[],s=e.tokens??[];return a`<${Q}
    title=${`Remove binding ${e.name}`}
    verb="Remove it"
    kind="danger"
    role="ROLE_ADMIN"
    undoable=${!1}
    preview=${async()=>({})}
    show=${()=>a`
      ${o.length+s.length===0&&a`<p>The binding has no subject and no token, so nobody loses access.</p>`}
      ${o.length>0&&a`<p>These subjects may do nothing any more:</p>
        <ul>${o.map(r=>a`<li><code>${r}</code></li>`)}</ul>`}
      ${s.length>0&&a`<p>These tokens end:</p>
        <ul>
          ${s.map(r=>a`<li><code>${r.id}</code>${r.created_by&&`, created by ${r.created_by}`}</li>`)}
        </ul>`}
      <p>Streams of ${e.name} end within a second. Its permits live until they expire.</p>`}
    run=${({reason:r})=>Lo(X`/v1/bindings/${e.name}`,{expected_revision:e.revision,reason:r})}
    done=${()=>`Binding ${e.name} is removed.`}
    onError=${r=>{r.reason==="STALE_VERSION"&&n()}}
    onClose=${t}
    onDone=${n}
  />`}function De({lasts:e,until:t}){return e?.trim()?{lasts:ye(e)}:t?{until:new Date(t).toISOString()}:{}}var Re=e=>e?.trim()?{drain:ye(e)}:{};function Oe(e){try{return e(),""}catch(t){return t.message}}function Pe({value:e,set:t,without:n="Empty: until it is ended.",error:o}){return a`<${D}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${s=>t({...e,lasts:s,until:""})}
      error=${Oe(()=>ye(e.lasts??""))||o}
      help=${`As 30m or 2h. ${n}`}
    />
    <${D} label="Or until" type="datetime-local" value=${e.until??""}
      onInput=${s=>t({...e,until:s,lasts:""})} />`}function Qe({value:e,set:t}){return a`<${D}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${Oe(()=>ye(e.drain??""))}
    help="How long holders that must stop may continue. Empty: they must stop now."
  />`}var oa={message:"It is not known whether the token was created. If the list has a new one, revoke it."};function fr(e){let{lasts:t,until:n}=De(e);return t?{expires_at:new Date(He()+N(t)).toISOString()}:n?{expires_at:n}:{}}function ra({of:e,binding:t,onClose:n}){let o=F(null),[s,r]=_("");R(()=>o.current.querySelector("input").select(),[]);let i=async()=>{o.current.querySelector("input").select();try{await navigator.clipboard.writeText(e.secret),r("Copied.")}catch{r("The browser does not allow it: copy the selected text with Ctrl-C.")}},l=e.token.expires_at?`until ${M(e.token.expires_at)}`:"until it is revoked";return a`<div class="stack" ref=${o}>
    <p class="note" role="alert">Copy the token now. It is shown only this once: the servers keep a hash of it.</p>
    <${D} label="Token" value=${e.secret} onInput=${()=>{}} readonly />
    <p>A caller that shows it acts as ${t}, ${l}. Its id is <code>${e.token.id}</code>.</p>
    <p class="row end">
      <span class="grow" role="status">${s}</span>
      <button type="button" onClick=${i}>Copy</button>
      <button type="button" class="primary" onClick=${n}>Done</button>
    </p>
  </div>`}function $r({binding:e,onClose:t,onDone:n}){let[o,s]=_({lasts:"30d",until:""}),[r,i]=_(""),[l,c]=_(null),[p,u]=_(null),[g,$]=_(!1),d=Oe(()=>fr(o)),m=async h=>{if(h.preventDefault(),!(g||d)){$(!0),u(null);try{c(await x("/v1/tokens",{binding:e,reason:r,...fr(o)})),n()}catch(b){u(b.offline?oa:b),b.offline&&n()}$(!1)}},f=p?.fields?.find(h=>h.field==="expires_at")?.rule;return a`<${ie} title=${`${l?"Token":"Create a token"} of ${e}`} onClose=${t} firm>
    ${l?a`<${ra} of=${l} binding=${e} onClose=${t} />`:a`<form onSubmit=${m}>
          <p>A caller that shows the token may do all that the binding grants.</p>
          <div class="form">
            <${Pe} value=${o} set=${h=>(s(h),u(null))}
              without="Empty: until it is revoked." error=${f} />
          </div>
          <${D} label="Reason" help="For the journal: why you do this." value=${r}
            onInput=${i} maxlength="1024" />
          ${p&&!f&&a`<${V} error=${p} />`}
          <p class="row end">
            <button type="button" onClick=${t}>Cancel</button>
            <${L} role="ROLE_ADMIN" type="submit" kind="primary"
              why=${d}>${g?"Working …":"Create it"}<//>
          </p>
        </form>`}
  <//>`}function hr({binding:e,token:t,onClose:n,onDone:o}){return a`<${Q}
    title=${`Revoke token ${t.id}`}
    verb="Revoke it"
    kind="danger"
    role="ROLE_ADMIN"
    undoable=${!1}
    preview=${async()=>({})}
    show=${()=>a`<p>Callers with this token of ${e} are refused at once, and its streams end within
      a second. Permits live
      until they expire.</p>`}
    run=${({reason:s})=>x(X`/v1/tokens/${t.id}:revoke`,{reason:s})}
    done=${()=>`Token ${t.id} is revoked.`}
    onClose=${n}
    onDone=${o}
  />`}function sa(){let[e,t]=_({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=_(null),[s,r]=_(null);return a`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),x("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(c=>(o(c),r(null)),r)}}>
      <${be} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${Qt} />
      <${D} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})}
        help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?a`<p class="lead tone-run">Yes.</p>`:a`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${s&&a`<${V} error=${s} />`}
  </section>`}var Ln=200;function aa({session:e}){let t=C($=>T("/v1/bindings",{},$),["bindings"],{keep:!0}),[n,o]=_(null),[s,r]=_("");if(t.error?.code==="PERMISSION_DENIED")return a`<${I} title="Only administrators see who may do what." />`;let i=e?.authenticates===!1?"These servers do not authenticate callers, so bindings mean nothing.":"",l=($,d,...m)=>a`<${L} role="ROLE_ADMIN" why=${i} kind=${d} onClick=${()=>o(m)}>${$}<//>`,c={onClose:()=>o(null),onDone:t.refresh},[p,u,g]=n??[];return a`<div class="title"><h2>Who may do what</h2>${l("Create a binding …","primary","edit")}</div>
    <${H} of=${t} what="Reading the bindings">
      ${({bindings:$=[]})=>{let d=$.filter(m=>s.toLowerCase().split(/\s+/).every(f=>JSON.stringify(m).toLowerCase().includes(f)));return a`${($.length>10||s)&&a`<${D} label="Find" value=${s} onInput=${r}
            help="Words of names, subjects, grants and tokens." />`}
        <${B}
          caption="Bindings"
          rows=${d.slice(0,Ln)}
          rowKey=${m=>m.name}
          empty=${a`<${I} title=${s?"No binding has these words.":"There are no bindings."} />`}
          note=${d.length>Ln&&`and ${w(d.length-Ln)} more: find them by words`}
          columns=${[["Name",m=>m.name,"name"],["Subjects",m=>a`<ul class="changes">${(m.subjects??[]).map(f=>a`<li>${f}</li>`)}</ul>`,"name"],["May",m=>a`<ul class="changes">
              ${(m.grants??[]).map(f=>a`<li>${Et(f)}</li>`)}
            </ul>`],["Tokens",m=>a`<ul class="changes">
              ${(m.tokens??[]).map(f=>a`<li class="row">
                <span><code>${f.id}</code>${f.expires_at&&` until ${M(f.expires_at)}`}</span>${l("Revoke …","","revoke",m,f)}
              </li>`)}
            </ul>`],["Changed",m=>`${M(m.updated_at)}${m.updated_by?` by ${m.updated_by}`:""}`],["",m=>a`<span class="row end">
              ${l("Edit …","","edit",m)}${l("Create a token …","","token",m)}${l("Remove …","danger","remove",m)}
            </span>`,"end"]]}
        />`}}
    <//>
    ${p==="edit"&&a`<${dr} binding=${u} ...${c} />`}
    ${p==="remove"&&a`<${mr} binding=${u} ...${c} />`}
    ${p==="token"&&a`<${$r} binding=${u.name} ...${c} />`}
    ${p==="revoke"&&a`<${hr} binding=${u.name} token=${g} ...${c} />`}`}function gr(){re("Access");let e=U(ge);return a`<${te}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?a`<${Te} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map(Et).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:a`<p>These servers do not authenticate callers: everybody may do everything.</p>`:a`<${_e} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${sa} />
        <section class="panel"><h2>Roles</h2>
          <${B} caption="Roles" rows=${In}
            columns=${[["Role",t=>t[0],"num"],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><${aa} session=${e} /></section>
    </div>`}var ia=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],la=e=>ia.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function Tt({entries:e,semaphore:t,onChange:n}){let o="";return a`<ol class="entries">
    ${e.map(s=>{let r=s.revision!==o;return o=s.revision,a`<li key=${`${s.revision}.${s.ordinal??0}`} class=${r?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${s.at} title=${M(s.at)}>${Me(s.at)}</time>
          <span class="tag tone-${rr(s.kind)}">${or(s.kind)}</span>
          ${!t&&s.semaphore&&a`<a class="mono" href=${`/s/${encodeURIComponent(s.semaphore)}`}>${s.semaphore}</a>`}
          <span class="grow">${nr(s)}</span>
          <span class="faint"><a href=${`/activity?change=${s.revision}`}>change ${s.revision}</a>${s.author&&` by ${s.author}`}</span>
          ${r&&sr(s)&&a`<${L} role=${la(s.kind)} semaphore=${s.semaphore??""}
              onClick=${()=>xt(s.revision,n)}>Undo …<//>`}
        </div>
        ${s.reason&&a`<p class="entry-reason">${s.reason}</p>`}
        ${s.before&&s.after&&a`<${Cn} before=${s.before} after=${s.after} />`}
      </li>`})}
  </ol>`}function _r(){re("Activity");let[e,t]=q(),n=e.get("change")??"";return a`<${te} aside=${n&&a`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?a`<${pa} change=${n} />`:a`<${ua} params=${e} change=${t} />`}`}var ca=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function ua({params:e,change:t}){let[n,o]=ke(e.get("q")??"",h=>t({q:h}),300),[s,r]=ke(e.get("labels")??"",h=>t({labels:h}),400),i=e.get("permits")==="1",l=e.get("by")??"",[c,p]=ke(l,h=>t({by:h}),300),[u,g]=_(50),$={names:ca(e.get("q")??""),labels:e.get("labels")??"",permits:i},d=C(h=>T("/v1/history",{...$,page_size:u},h),["journal",$,u],{every:15e3,keep:!0}),m=ze(d.refresh,i?500:60);Ce("/v1/watch",$,{message:({events:h=[]})=>h.length&&m(),missed:m,open:h=>h&&m()});let f=(d.data?.entries??[]).filter(h=>!l||(h.author??"").toLowerCase().includes(l.toLowerCase()));return a`<form class="filters" role="search" onSubmit=${h=>h.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label>
      <input id="activity-q" data-search value=${n} onInput=${h=>o(h.target.value)}
        placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label>
      <input id="activity-by" value=${c} onInput=${h=>p(h.target.value)} spellcheck=${!1}
        autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label>
      <input id="activity-labels" value=${s} onInput=${h=>r(h.target.value)} spellcheck=${!1}
        autocomplete="off" /></div>
      <${ce} label="Show ended permits" checked=${i}
        onChange=${h=>t({permits:h?"1":""})} />
    </form>
    <section class="panel">
      <${H} of=${d} what="Reading the journal">
        ${h=>a`
          ${f.length?a`<${Tt} entries=${f} onChange=${d.refresh} />`:a`<${I} title="No changes match.">Edits, pauses, cordons and undos appear
              here as they happen.<//>`}
          ${h.next_page_token&&u<1e3&&a`<p class="row"><button type="button"
              onClick=${()=>g(Math.min(1e3,u*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function pa({change:e}){let t=C(n=>T("/v1/history",{change:e,page_size:1e3},n),["change",e]);return a`<section class="panel">
    <${H} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:s})=>a`
        ${o&&a`<p class="note">The journal no longer has all of this
          change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?a`<${Tt} entries=${n} onChange=${t.refresh} />`:a`<${I} title=${`There is no change ${e} in the journal.`} />`}
        ${s&&a`<p class="faint">Only the first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&a`<p><a href=${`/activity?change=${n[0].undoes}`}>Show the change that it undoes</a></p>`}`}
    <//>
  </section>`}var Yt="M4 14V2",br={idle:[Yt,"M4 4l8-2"],running:[Yt,"M4 3l9 4v-3l-9-2z"],waiting:[Yt,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[Yt,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function St({word:e}){let t=br[e]??br.idle;return a`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>a`<path d=${n} />`)}
  </svg>`}function Ct({value:e,text:t}){let n=Jo(e);return a`<span class="state tone-${n.tone}"><${St} word=${n.word} /><span>${t??n.word}</span></span>`}function vr({record:e}){let t=wt(e)[0];return a`<${Ct} value=${t?.value} text=${Go(e)} />`}function Xt({tone:e="idle",children:t}){return a`<span class="tag tone-${e}">${t}</span>`}var da=864e5,wr=1e3,kr=e=>e?.role==="SERVER_ROLE_LEADER",Er=e=>e.map(t=>t.status).filter(kr).sort((t,n)=>Number(n.term)-Number(t.term))[0],xr=e=>e.port==="CERTIFICATE_PORT_API"?"API":j(e.port,"CERTIFICATE_PORT_"),Zt=e=>N(e)<0?`${he(-N(e))} behind`:`${he(N(e))} ahead`;function Tr(e){if(e.error)return["deny",e.error];let t=Date.parse(e.not_after)-He();if(t<=0)return["deny","has ended"];let n=Math.floor(t/da);return[n<7?"deny":n<30?"wait":"",n<1?`ends in ${Z(t)}`:`ends in ${S(n,"day","days")}`]}function ma(e,t){if(!e.status)return[["deny",`does not answer: ${e.error}`]];let n=(e.status.certificates??[]).map(o=>[o,...Tr(o)]).filter(([,o])=>o);return[Number(e.lag??0)>=wr&&["wait","lagging"],...n.map(([o,s,r])=>[s,`${xr(o)} certificate ${o.error?"cannot be used":r}`]),t&&["stop",`clock is ${Zt(t.ahead)}`],e.status.insecure&&["stop","started with --insecure"]].filter(Boolean)}var fa={run:"running",wait:"waiting",stop:"missed",deny:"denied"};function $a({of:e}){return(e.length?e:[["run","well"]]).map(([t,n])=>a`<div class="state tone-${t}"><${St} word=${fa[t]} /><span>${n}</span></div>`)}function ha(e){return e.status?kr(e.status)?a`<strong class="tone-run">leader</strong>`:e.voter?j(e.status.role,"SERVER_ROLE_")||"stopping":"non-voter":e.voter?"voter":"non-voter"}var yr=e=>he(+(parseFloat(e??"0")*1e3).toFixed(2));function Sr(e,t){let n=s=>r=>r.status?s(r.status,r):a`<span class="faint">–</span>`,o=s=>t?.find(r=>r.id===s.id);return[["Server",s=>a`${s.id}${s.id===e&&a`<span class="faint"> (answers you)</span>`}
      <span class="under">${s.api_address||"API address not known"}<br />${s.peer_address} (peers)</span>`,"name"],["State",s=>a`<${$a} of=${ma(s,o(s))} />`],["Role",ha,"whole"],["Term",n(s=>s.term),"num"],["Entries behind",n((s,r)=>r.lag===void 0?"not known":a`<span class=${Number(r.lag)>=wr?"tone-wait":""}>${w(r.lag)}</span>`),"num"],["Log writes",n(s=>s.log_writes?a`${yr(s.log_writes.median)}
        <span class="under">${yr(s.log_writes.longest)} longest</span>`:"none yet"),"num"],["Snapshot",n(({last_snapshot:s})=>s?a`${s.taken_at?a`<${le} at=${s.taken_at} /> ago`:`index ${s.index}`}
        <span class="under">${fe(s.bytes)}</span>`:"none yet"),"num"],["Version",n(s=>a`${s.version||"–"}<span class="under">level ${s.feature_level}</span>`),"whole"],["Up for",n(s=>s.uptime&&Z(N(s.uptime))),"num"],["Clock",n((s,r)=>t?o(r)?a`<span class="tone-stop">${Zt(o(r).ahead)}</span>`:"in step":"not known"),"num"]]}function Cr({of:e}){let t=e.flatMap(o=>(o.status?.certificates??[]).map(s=>({...s,server:o.id}))),n=e.filter(o=>!o.status).map(o=>o.id);return a`<section class="panel">
    <h2>Certificates</h2>
    <${B}
      caption="Certificates of the servers"
      rows=${t}
      rowKey=${o=>`${o.server} ${o.port}`}
      empty=${a`<${I} title="No server that answers uses TLS." />`}
      columns=${[["Server",o=>o.server,"name"],["Port",xr],["Subject",o=>o.subject||"–","name"],["Ends",o=>{let[s,r]=Tr(o);return a`<span class=${s&&`tone-${s}`}>${o.error?r:a`${M(o.not_after)}, ${r}`}</span>`}]]}
      note=${n.length>0&&`Those of ${n.join(", ")} are not known.`}
    />
  </section>`}var jn=ae(null),Dr=(e,t)=>jn.set({member:e,onDone:t});function ga({of:e}){let t=(e.members??[]).filter(r=>r.voter).map(r=>r.id),n=Math.floor(t.length/2)+1,o=t.length-n,s=e.silent??[];return a`
    <p class="lead">${S(t.length,"voter is","voters are")} left: ${t.join(", ")}.</p>
    <p>The cluster needs ${n} of ${t.length===1?"it":"them"}:
      ${o?` it works on while ${S(o,"voter is","voters are")} away.`:" it stops when one is away."}</p>
    ${s.length>0&&a`<p class="note">${s.join(", ")} ${s.length===1?"does":"do"} not answer
      now.</p>`}`}function Rr(){let e=U(jn);if(!e)return null;let t=e.member.id;return a`<${Q}
    key=${t}
    title=${`Remove ${t}`}
    verb=${`Remove ${t}`}
    kind="danger"
    role="ROLE_ADMIN"
    journal=${!1}
    preview=${n=>x("/v1/members:remove",{id:t,dry_run:!0},n)}
    show=${n=>a`<p>${t} leaves for good: it stops, and its id can never be used again. A new server
      needs a new id and an empty
      data folder.${e.member.leader&&" It leads now, so another server takes over."}</p><${ga} of=${n} />`}
    nothing=${n=>n.already_removed?`${t} was removed before.`:n.refusal??""}
    run=${()=>x("/v1/members:remove",{id:t})}
    done=${n=>`${t} is removed. ${S(n.members?.length??0,"member is","members are")} left.`}
    onDone=${e.onDone}
    onClose=${()=>jn.set(null)}
  />`}var _a={max_duration:"The longest duration of a definition. Raising it lengthens, for good, how long a recovered cluster grants nothing.",journal_per_semaphore:"Edits that the journal keeps of each semaphore, and as many ends of permits.",journal_total:"The same of all semaphores together.",journal_lifetime:"How long the journal keeps an entry.",remembered_deletions:"Deleted definitions whose version is remembered.",request_lifetime:"How long a request is remembered at least, while there is room.",requests_kept:"Requests of each semaphore that are remembered for longer.",request_bytes:"The most bytes for requests.",edit_bytes:"The most bytes for requests that edit.",max_task_bytes:"The most bytes of the payload of a task, and of its result.",max_job_bytes:"The most bytes of the payloads of a job.",max_semaphore_work_bytes:"The most bytes that the jobs of a semaphore store and reserve.",max_work_bytes:"The same of all semaphores together."},tn=e=>typeof e=="string"&&e.endsWith("s"),en=(e,t)=>tn(t)?he(N(t)):e.includes("bytes")?fe(t):w(t),Or=e=>tn(e)?Ne(e):String(e);function ba(e,t){if(e.trim()==="")throw new Error("It needs a value.");if(tn(t))return ye(e);if(!/^\d+$/.test(e.trim()))throw new Error(`“${e}” is not a whole number.`);return e.trim()}function va(e,t){let n={},o={};for(let[s,r]of Object.entries(t))if(e[s]!==Or(r))try{n[s]=ba(e[s],r)}catch(i){o[s]=i.message}return{changed:n,errors:o}}var Pn=({before:e={},after:t={}})=>Object.keys(t).filter(n=>e[n]!==t[n]);function ya({settings:e,onClose:t,onDone:n}){let[o,s]=_(()=>Object.fromEntries(Object.entries(e).map(([f,h])=>[f,Or(h)]))),[r,i]=_({}),[l,c]=_(!1),{changed:p,errors:u}=va(o,e),g=Object.keys(p).length?"":"Nothing was changed.",$=Object.keys(u).length?"A field has a mistake.":g,d=f=>h=>{s({...o,[f]:h}),i({...r,[f]:void 0})},m=f=>{let h=f.fields.filter(b=>b.field.startsWith("settings.")).map(b=>[b.field.slice(9),b.rule]);return i(Object.fromEntries(h)),h.length>0};return a`<form onSubmit=${f=>(f.preventDefault(),$||c(!0))}>
      <div class="form">
        ${Object.entries(e).map(([f,h])=>a`<${D} key=${f} label=${f} value=${o[f]} onInput=${d(f)}
            class=${f in p||u[f]?"changed":""} inputmode=${tn(h)?void 0:"numeric"}
            help=${`${_a[f]??""} Now ${en(f,h)}.`} error=${u[f]??r[f]} />`)}
      </div>
      <p class="row end sticky-end">
        <button type="button" onClick=${t}>${$&&$===g?"Back":"Discard"}</button>
        <${L} role="ROLE_ADMIN" type="submit" kind="primary" why=${$}>Review and save …<//>
      </p>
    </form>
    ${l&&a`<${Q}
      title="Change the settings"
      verb="Save"
      role="ROLE_ADMIN"
      undoable=${!1}
      preview=${f=>_t("/v1/settings",{settings:p,dry_run:!0},f)}
      show=${f=>a`<${B}
          caption="Settings that change"
          rows=${Pn(f)}
          columns=${[["Setting",h=>h,"name"],["Now",h=>a`<del>${en(h,f.before[h])}</del>`],["Then",h=>a`<ins>${en(h,f.after[h])}</ins>`]]}
        />
        <${Dn} of=${f} />
        <p class="faint">Undo does not take settings back: set the earlier values again.</p>`}
      nothing=${f=>Pn(f).length?"":"The settings have these values already."}
      run=${({reason:f,author:h},b)=>_t("/v1/settings",{settings:p,expected:b.before,reason:f,author:h})}
      done=${f=>`${S(Pn(f).length,"setting is","settings are")} changed, as change ${f.revision}.`}
      onError=${m}
      onClose=${()=>c(!1)}
      onDone=${n}
    />`}`}function Ar(){let[e,t]=q(),n=C(r=>T("/v1/settings",{stale:!0},r),["settings"]),o=e.get("edit")==="settings",s=()=>t({edit:""});return a`<section class="panel">
    <div class="title"><h2>Settings</h2>
      ${!o&&a`<${L} role="ROLE_ADMIN" onClick=${()=>t({edit:"settings"},{replace:!1})}>Edit<//>`}
    </div>
    <${H} of=${n} what="Reading the settings">
      ${({settings:r={}})=>o?a`<${ya} settings=${r} onClose=${s} onDone=${()=>(n.refresh(),s())} />`:a`<${Te} of=${Object.entries(r).map(([i,l])=>[i,en(i,l)])} />`}
    <//>
  </section>`}var wa=()=>C(e=>T("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function Ye(){let e=wa(),[t,n]=_(null),o=e.data?.cordons??[],s=t&&a`<${Q}
    title=${`Remove the cordon of ${je(t)}`}
    verb="Remove"
    role="ROLE_OPERATOR"
    preview=${async()=>({})}
    show=${()=>a`<p class="lead">${ot(je(t))} gets permits again, wherever a rule admits it.</p>`}
    run=${r=>x("/v1/uncordon",{id:t.id,...r})}
    done=${()=>`${ot(je(t))} is no longer cordoned.`}
    onDone=${e.refresh}
    onClose=${()=>n(null)}
  />`;return o.length===0?s:a`<section class="cordons" aria-label="Cordons in force">
    <ul>
      ${o.map(r=>a`<li key=${r.id}>
          <span class="state tone-deny"><${St} word="cordoned" />cordoned</span>
          <span class="grow">${ot(je(r))} is cordoned ${lt(r)}${r.reason&&`: ${r.reason}`}${r.author&&a`<span class="faint"> (by ${r.author})</span>`}</span>
          <${L} role="ROLE_OPERATOR" onClick=${()=>n(r)}>Remove …<//>
        </li>`)}
    </ul>
    ${s}
  </section>`}function ka({member:e,onClose:t,onDone:n}){let[o,s]=_(null);return a`<${ie} title="Transfer leadership" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),x("/v1/leadership:transfer",{id:e.id}).then(l=>{xe(`${l.leader_id} leads.`),n(),t()},s)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait briefly.</p>
      <${V} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button>
      <button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function Ea({of:e,id:t,clocks:n,onChange:o}){let[s,r]=_(null);return a`<section class="panel">
    <h2>Members</h2>
    <${B}
      caption="Members"
      rows=${e}
      rowKey=${i=>i.id}
      wide
      columns=${[...Sr(t,n),["",i=>i.voter&&!i.leader&&a`<${L} role="ROLE_ADMIN" onClick=${()=>r(i)}>Let it lead …<//>`,"end"],["",i=>a`<${L} role="ROLE_ADMIN" kind="danger"
          onClick=${()=>Dr(i,o)}>Remove …<//>`,"end"]]}
    />
    ${s&&a`<${ka} member=${s} onClose=${()=>r(null)} onDone=${o} />`}
  </section>`}function xa({leader:e}){let t=[...(e?.member_clocks??[]).map(n=>({name:`server ${n.id}`,ahead:n.ahead})),...(e?.host_clocks??[]).map(n=>({name:P(n),ahead:n.ahead,seen:n.seen}))];return a`<section class="panel">
    <h2>Clocks</h2>
    <${B}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${a`<${I} title=${e?"No clock is off.":"Only the leader compares clocks, and it does not answer."} />`}
      columns=${[["Whose",n=>n.name,"name"],["Off by",n=>a`<span class="tone-stop">${Zt(n.ahead)}</span>`,"num"],["Seen",n=>n.seen?a`<${le} at=${n.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function Ta({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return a`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${ve} share=${n?t/n:0} label="${fe(t)} of ${fe(n)}" />
    <span class="num">${fe(t)} of ${fe(n)}</span></p>
    <${B}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${a`<${I} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>a`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>w(o.jobs),"num"],["Waiting",o=>w(o.waiting),"num"],["Running",o=>w(o.held),"num"],["Stored",o=>fe(o.bytes),"num"]]}
    />
  </section>`}function Ir(){re("Cluster");let e=C(t=>T("/v1/members",{},t),["members"],{every:3e3,keep:!0});return a`<${te}>Cluster<//>
    <${Ye} />
    <${H} of=${e} what="Reading the servers">
      ${t=>{let n=t.members.map(i=>({...i.member,...i})),o=Er(n),s=o??n.find(i=>i.id===t.id)?.status??n.find(i=>i.status)?.status??{},r=n.filter(i=>i.status?.insecure).map(i=>i.id);return a`<div class="stack">
          ${!s.leader_id&&a`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority
            of the servers is back.</p>`}
          ${s.recovery_wait&&a`<p class="note">Nothing is granted for another ${Z(N(s.recovery_wait))}, after
            a recovery.</p>`}
          ${r.length>0&&a`<p class="note">Started with --insecure: ${r.join(", ")}. Their ports may be reachable without TLS
            and authentication.</p>`}
          ${s.denied_semaphores>0&&a`<div class="note"><p>${S(s.denied_semaphores,"semaphore denies","semaphores deny")} every caller:</p>
            <ul>${s.denied.map(i=>a`<li key=${i.semaphore}>
                <a href=${`/s/${encodeURIComponent(i.semaphore)}`}>${i.semaphore}</a>: ${xn(i)}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>State</h2>
            <${Te} of=${[["Cluster",a`<code>${s.cluster_id}</code>`],["Leader",s.leader_id?a`${s.leader_id}${!o&&a`<span class="tone-deny"> (does not answer)</span>`}`:"none"],["Servers",`${w(n.filter(i=>i.status).length)} of ${w(n.length)} answer`],["Revision",s.revision],["Definitions",w(s.definitions)],["Permits",w(s.permits)],["Waiters",o?w(s.waiters):"only the leader knows"],["Smallest safe duration",s.smallest_duration&&he(N(s.smallest_duration))]]} />
          </section>
          <${Ea} of=${n} id=${t.id} clocks=${o&&(o.member_clocks??[])}
            onChange=${e.refresh} />
          <div class="panels">
            <${Cr} of=${n} />
            <${xa} leader=${o} />
            <${Ta} status=${s} />
          </div>
          <${Ar} />
          <${Rr} />
        </div>`}}
    <//>`}var Fn=e=>e.failed?"deny":e.over?"run":j(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",qn=e=>{let t=j(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},Un=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${w(e[t])} ${t}`).join(", ");function Wn({job:e}){let t=e.tasks??0,n=`${w(e.done)} of ${S(t,"task","tasks")} done`;return a`<div class="job-progress">
    <${ar}
      total=${t}
      label="${n}; ${Un(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function Hn({jobs:e}){return a`<${B}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>a`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>a`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>a`<span class="tag tone-${Fn(t)}">${qn(t)}</span>`],["Progress",t=>a`<${Wn} job=${t} />`],["Failed",t=>t.failed?a`<strong class="tone-deny">${w(t.failed)}</strong>`:"0","num"],["Submitted",t=>a`<span title=${M(t.submitted_at)}>
        <${le} at=${t.submitted_at} /> ago</span>${t.spec.author&&a`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>fe(t.bytes),"num"]]}
  />`}function Nr(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${j(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var Sa=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${Z(N(e.expires_in))}`:"";function Bn({data:e}){let t=[...e.workers??[],...e.away??[]];return a`<${B}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${P(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${a`<${I} title="There are no workers.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>P(n.identity),"name"],["Semaphore",n=>a`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>a`<span class="tag tone-${Nr(n)[1]}">${Nr(n)[0]}</span>`],["Free",n=>w(n.free),"num"],["Tasks",n=>n.tasks?.length?a`<ul class="held">${n.tasks.slice(0,8).map(o=>a`<li key=${o.token}>
                <a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${w(o.index)},
                for <${le} at=${o.granted_at} />
                ${o.progress&&a` <${ve} share=${o.progress.fraction}
                  label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${Sa(o)}</li>`)}${n.tasks.length>8&&a`<li>and ${w(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var Ca=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function Da(){let[e,t]=q(),[n,o]=ke(e.get("semaphore")??"",u=>t({semaphore:u}),300),[s,r]=ke(e.get("labels")??"",u=>t({labels:u}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,c]=_(""),p=C(u=>T("/v1/jobs",{...i,page_size:100,page_token:l},u),["jobs",i,l],{every:2e3,keep:!0});return a`<form class="filters" role="search" onSubmit=${u=>u.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label>
      <input id="job-semaphore" data-search value=${n} onInput=${u=>o(u.target.value)}
        spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label>
      <input id="job-labels" value=${s} onInput=${u=>r(u.target.value)} placeholder="team=billing"
        spellcheck=${!1} /></div>
      <${be} label="State" value=${e.get("state")??""} onChange=${u=>t({state:u})}
        options=${Ca} />
    </form>
    <section class="panel">
      <${H} of=${p} what="Reading the jobs">
        ${u=>a`
          ${u.jobs?.length?a`<${Hn} jobs=${u.jobs} />`:a`<${I} title="No job matches.">Jobs
            are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&a`<button type="button" onClick=${()=>c("")}>First page</button>`}
            ${u.next_page_token&&a`<button type="button" onClick=${()=>c(u.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function Ra(){let e=C(t=>T("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return a`<section class="panel">
    <${H} of=${e} what="Reading the workers">${t=>a`<${Bn} data=${t} />`}<//></section>`}function Mr(){re("Jobs");let[e]=q();return a`<${te}>Jobs<//>
    <p class="faint">A job is a list of tasks that programs submit and workers share. Its semaphore decides who may work.</p>
    <${it} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?a`<${Ra} />`:a`<${Da} />`}`}function nn({title:e,text:t,verb:n,run:o,done:s,onClose:r,onDone:i,reason:l}){let[c,p]=_(""),[u,g]=_(null),[$,d]=_(!1);return a`<${ie} title=${e} onClose=${r}>
    <form onSubmit=${async f=>{if(f.preventDefault(),!$){d(!0);try{xe(s(await o(c))),i(),r()}catch(h){g(h),d(!1)}}}}>
      <p>${t}</p>
      ${l&&a`<${D} label="Reason" value=${c} onInput=${p} maxlength="1024" />`}
      <${V} error=${u} />
      <p class="row end"><button type="button" onClick=${r}>Cancel</button>
      <button class="primary">${$?"Working …":n}</button></p>
    </form>
  <//>`}function Oa({job:e,onChange:t}){let[n,o]=_(""),{id:s,semaphore:r}=e.spec,i=j(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},c=(p,u,g)=>a`<${L} role="ROLE_OPERATOR" semaphore=${r} why=${g}
      onClick=${()=>o(p)}>${u}<//>`;return a`
    ${c("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${c("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${c("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${c("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&a`<${nn} ...${l} title="Retry failed tasks" verb="Retry"
      text=${`${S(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>x(X`/v1/jobs/${s}:retry`,{as_of:e.revision})}
        done=${p=>`${S(p.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&a`<${nn} ...${l} title="Drop failed tasks" verb="Drop"
      text=${`${S(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>x(X`/v1/jobs/${s}:drop`,{as_of:e.revision})}
        done=${p=>`${S(p.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&a`<${nn} ...${l} title=${`Cancel ${s}`} verb="Cancel the job" reason
      text=${`${S(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${S(e.held??0,"running task stops","running tasks stop")}.`}
      run=${p=>x(X`/v1/jobs/${s}:cancel`,{reason:p,submitted_revision:e.submitted_revision,...we()})} done=${()=>`${s} is cancelled.`} />`}
    ${n==="delete"&&a`<${nn} ...${l} title=${`Delete ${s}`} verb="Delete the job"
      text="The job is removed with its results."
      run=${()=>Ie("DELETE",X`/v1/jobs/${s}`,{query:{submitted_revision:e.submitted_revision}})}
        done=${()=>`${s} is deleted.`} onDone=${()=>me("/jobs")} />`}`}var Lr={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},Aa=[["","any"],...Object.keys(Lr).map(e=>[e,e])];function Ia({job:e,index:t,onClose:n}){let o=C(s=>T(X`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},s),["task",e,t]);return a`<${ie} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${H} of=${o} what="Reading the task">
      ${s=>{let r=s.tasks?.[0];return r?a`<${Te} of=${[["State",j(r.state,"TASK_STATE_")],["Attempts",w(r.attempts)],["Worker",r.worker&&P(r.worker)],["Token",r.token],["Returned unfinished",r.returns]]} />
          ${r.failure&&a`<h3>Failure</h3><pre>${r.failure}</pre>`}
          <h3>Payload</h3><pre>${yn(r.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${yn(r.result)||"(none)"}</pre>`:a`<${I} title="There is no such task." />`}}
    <//>
  <//>`}function Na({id:e,round:t}){let[n,o]=q(),s=n.get("task")??"",[r,i]=_(0),[l,c]=_(null),p={states:s?[`TASK_STATE_${s.toUpperCase()}`]:[],from:r,page_size:100},u=C(g=>T(X`/v1/jobs/${e}/tasks`,p,g),["tasks",e,p,t],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${be} label="In state" value=${s} onChange=${g=>(i(0),o({task:g}))}
        options=${Aa} /></div>
    <${H} of=${u} what="Reading the tasks">
      ${g=>a`<${B}
          caption="Tasks"
          rows=${g.tasks}
          rowKey=${$=>$.index??0}
          empty=${a`<${I} title="No task is in that state." />`}
          columns=${[["Task",$=>a`<button type="button" class="plain"
              onClick=${()=>c($.index??0)}>${w($.index)}
                <span class="sr-only">: show payload and result</span></button>`,"num"],["State",$=>a`<span class="tag tone-${Lr[j($.state,"TASK_STATE_")]}">${j($.state,"TASK_STATE_")}</span>`],["Attempts",$=>w($.attempts),"num"],["Worker",$=>$.worker?P($.worker):"–","name"],["Progress",$=>$.progress?a`<${ve} share=${$.progress.fraction} label=${`${Math.round(100*($.progress.fraction??0))} %`} /> ${$.progress.text}`:"–"],["Failure",$=>$.failure||"–"]]}
        />
        <p class="row end">
          ${r>0&&a`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${g.next>0&&a`<button type="button" onClick=${()=>i(g.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&a`<${Ia} job=${e} index=${l} onClose=${()=>c(null)} />`}
  </section>`}function jr({name:e}){re(e);let t=C(p=>T(X`/v1/jobs/${e}`,{},p),["job",e],{every:15e3}),[n,o]=_(0),s=ze(()=>o(p=>p+1),1e3),[r,i]=_(null),l=()=>{t.refresh(),s(),i(null)},c=t.data?.job;return R(()=>{c&&!c.over&&r===null&&i(c.revision)},[c?.over,r]),Ce(r!==null?X`/v1/jobs/${e}:follow`:null,{after_revision:r},{message(p){p.job&&t.set(()=>({job:p.job})),s()},end:l}),t.error?.code==="NOT_FOUND"?a`<${te}>${e}<//>
      <${I} title="There is no job of this id.">It may have been deleted, or kept for its
      time. <a href="/jobs">All jobs</a><//>`:c?a`<${te} aside=${a`<${Oa} job=${c} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${Fn(c)}">${qn(c)}</span><span>${Un(c)}</span></p>
        <${Wn} job=${c} />
        ${c.cancel_text&&a`<p class="note">Cancelled ${c.cancel_text}</p>`}
        <${Te} of=${[["Semaphore",a`<a href=${`/s/${encodeURIComponent(c.spec.semaphore)}`}>${c.spec.semaphore}</a>`],["Submitted",`${M(c.submitted_at)}${c.spec.author?` by ${c.spec.author}`:""}`],["Ended",c.ended_at&&`${M(c.ended_at)}, after ${Z(Date.parse(c.ended_at)-Date.parse(c.submitted_at))}`],["Priority",c.spec.priority],["Attempts of a task",c.spec.max_attempts],["Timeout",Ne(c.spec.timeout)],["Kept after its end",Ne(c.spec.retention)],["Stored",fe(c.bytes)],["Labels",Object.entries(c.spec.labels??{}).map(([p,u])=>`${p}=${u}`).join(", ")]]} />
      </section>
      <${Na} id=${e} round=${n} />
    </div>`:a`<${te}>${e}<//>${t.error&&!t.error.offline?a`<${V} error=${t.error}
      retry=${t.refresh} />`:a`<${_e} what="Reading the job" />`}`}function Pr(){re("Log in");let[e]=q(),[t,n]=_(""),[o,s]=_(null),[r,i]=_(!1),l=e.get("next")??"/";return a`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${te}>Log in to Gatekeeper<//>
    <form onSubmit=${async p=>{p.preventDefault(),i(!0);try{await jo(t.trim()),me(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(u){s(u),i(!1)}}}>
      <${D}
        label="Bearer token"
        help="From gkctl auth token create. It stays in this browser as a cookie that scripts cannot read, for 12 hours."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&a`<${V} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary"
        disabled=${r||!t.trim()}>${r?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}var Ma=e=>e&&(!e.authenticated||e.grants?.some(t=>!t.semaphores?.length&&!t.labels));function Xe(e=5e3){let t=Ma(U(ge)),n=C(t?s=>Be("/v1/known",{},"callers",s,e):null,["known",e]),o=n.data?.items??[];return{callers:o,groups:[...new Set(o.map(s=>s.group))].sort(),more:n.data?.more}}function Fr({change:e,stopped:t,begun:n,later:o}){let[s,r]=_({}),i=F(!o);Le();let l=t.filter(f=>!s[f.permit.token]),c=[...new Set(l.map(f=>f.permit.semaphore))],p=de(()=>c.length<=40?c:[],[e]),u=f=>f.length&&r(h=>({...Object.fromEntries(f),...h})),g=()=>i.current?Date.now()-n:void 0,$=async()=>{let{items:f}=await Be("/v1/holders",{names:p},"permits",void 0,1e5),h=new Set(f.map(b=>b.token));u(t.filter(b=>!h.has(b.permit.token)).map(b=>[b.permit.token,{how:"gone",after:g()}])),i.current=!0};if(Ce(t.length?"/v1/watch":null,{names:p,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:f=[]}){let h=new Set(t.map(b=>b.permit.token));u(f.filter(b=>b.permit&&h.has(b.permit.token)&&b.ended).map(b=>[b.permit.token,{how:j(b.ended,"PERMIT_END_"),after:g()}]))},open:()=>i.current||$().catch(()=>{}),missed:()=>$().catch(()=>{})}),t.length===0)return a`<p class="lead">No holder had to stop.</p>`;let d=l.filter(f=>Date.now()-n>N(f.free_within)),m=t.length-l.length;return a`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${S(t.length,"holder has","holders have")} stopped.`:`${w(m)} of ${S(t.length,"holder has","holders have")} stopped.`}
      ${d.length>0&&a` <strong>${S(d.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${ve} share=${m/t.length} tone=${d.length?"stop":"run"}
      label=${`${m} of ${t.length} stopped`} />
    <${B}
      caption="Holders that must stop"
      rows=${[...d,...l.filter(f=>!d.includes(f)),...t.filter(f=>s[f.permit.token])].slice(0,600)}
      rowKey=${f=>f.permit.token}
      columns=${[["Semaphore",f=>a`<a href=${`/s/${encodeURIComponent(f.permit.semaphore)}`}>${f.permit.semaphore}</a>`,"name"],["Holder",f=>P(f.permit.identity),"name"],["Token",f=>f.permit.token,"num"],["Now",f=>{let h=s[f.permit.token];if(h)return a`<span class="tone-run">${h.how}${h.after!==void 0&&` after ${Z(h.after)}`}</span>`;let b=n+N(f.free_within)-Date.now();return b>0?a`<span class="tone-wait">stops
            within <span class="num">${at(b)}</span></span>`:a`<span class="tone-deny">did
            not stop in time</span>`}]]}
    />
  </section>`}var ct=100,La=100,Kn=(e,t)=>{let n=[];for(let o=Math.floor(e/ct);o<=Math.floor(Math.max(e,t-1)/ct);o++)n.push(o);return n},qr=e=>({...e,deadline:e.holder?.expires_in?Date.now()+N(e.holder.expires_in):0}),ja=e=>Math.max(Number(e.version),Number(e.permit_revision??0));function Ur(e){let t=JSON.stringify(e),n=U(Ue),[,o]=_(0),s=()=>o(m=>m+1),r=de(()=>({pages:new Map,revisions:new Map,asked:new Map,total:void 0,window:[0,1],round:0,wanted:0,timer:0}),[t]),i=F(0),l=F(r);l.current=r;let c=(m,f)=>{if(!f&&(r.pages.has(m)||r.asked.has(m)))return;r.asked.get(m)?.abort();let h=new AbortController;r.asked.set(m,h);let b=performance.now();T("/v1/definitions",{...e,page_size:ct,skip:m*ct},h.signal).then(y=>{if(l.current!==r)return;r.asked.delete(m),r.error=void 0,i.current=performance.now()-b;let E=new Map((r.pages.get(m)??[]).map(O=>[O.definition.name,O]));r.pages.set(m,(y.records??[]).map(O=>{let k=E.get(O.definition.name);return k&&ja(k)>Number(y.revision)?k:qr(O)})),r.revisions.set(m,Number(y.revision)),r.round++,r.total=y.total??(y.records??[]).length,s()},y=>{h.signal.aborted||l.current!==r||(r.asked.delete(m),r.error=y,s())})},p=()=>{r.wanted=performance.now(),r.timer=0;let m=Kn(...r.window);for(let[f,h]of r.asked)m.includes(f)||(h.abort(),r.asked.delete(f));for(let f of m)c(f)},u=(m,f)=>{r.window=[m,f],r.timer||=setTimeout(()=>l.current===r&&p(),Math.max(0,r.wanted+La-performance.now()))},g=()=>{let m=Kn(...r.window);for(let f of r.pages.keys())m.includes(f)||r.pages.delete(f);for(let f of m)c(f,!0)},$=F(g);$.current=g,R(()=>(c(0),()=>r.asked.forEach(m=>m.abort())),[t]),R(()=>{n&&$.current()},[n]),R(()=>{let m=setInterval(()=>document.hidden||$.current(),Wt(i.current));return()=>clearInterval(m)},[t,r.round]);let d=m=>{let f=!1;for(let h of r.pages.values())h.forEach((b,y)=>{h[y]=m(b),f||=h[y]!==b});f&&s()};return{at:m=>r.pages.get(Math.floor(m/ct))?.[m%ct],total:r.total,error:r.error,want:u,since:(m,f)=>Math.min(...Kn(m,f).map(h=>r.revisions.get(h)??1/0)),refresh:g,alter:d,update(m){let f=new Map(m.map(h=>[h.definition.name,qr(h)]));d(h=>f.get(h.definition.name)??h)}}}var Wr=4,on=4;function Hr({total:e,height:t,row:n,range:o,open:s,label:r,head:i,columns:l}){let c=F(null),[p,u]=_([0,30]),[g,$]=_(0),d=F(!1);ft(()=>{let k=0,A=()=>{k=0;let K=c.current?.getBoundingClientRect();if(!K)return;let z=Math.max(0,Math.floor(-K.top/t/on)*on-Wr),J=Math.min(e,Math.ceil((innerHeight-K.top)/t/on)*on+Wr);u(ee=>ee[0]===z&&ee[1]===J?ee:[z,Math.max(z,J)])},W=()=>k||=requestAnimationFrame(A);A(),addEventListener("scroll",W,{passive:!0}),addEventListener("resize",W);let Y=new ResizeObserver(W);return Y.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",W),removeEventListener("resize",W),Y.disconnect()}},[e,t]),R(()=>{o?.(p[0],p[1])},[p[0],p[1],e]),ft(()=>{if(!d.current)return;let k=c.current?.querySelector(`[data-row="${g}"]`);k&&(d.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let m=Math.min(g,Math.max(0,e-1)),f=k=>{if(e===0)return;d.current=!0,$(Math.max(0,Math.min(e-1,k)));let A=c.current.getBoundingClientRect().top+scrollY+k*t;(A<scrollY||A>scrollY+innerHeight)&&scrollTo(0,Math.max(0,A-innerHeight/2))},h=Math.max(1,Math.floor(innerHeight/t)-4),b={ArrowDown:()=>f(m+1),ArrowUp:()=>f(m-1),PageDown:()=>f(m+h),PageUp:()=>f(m-h),Home:()=>f(0),End:()=>f(e-1),Enter:()=>s?.(m)},y=k=>{!b[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),b[k.key]())},E=k=>{let A=k.target.closest("[data-row]");A&&$(Number(A.dataset.row))};R(()=>{let k=()=>f(m);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let O=[];for(let k=p[0];k<Math.min(p[1],e);k++)O.push(k);return e>0&&(m<p[0]||m>=p[1])&&O.push(m),a`<div class="grid" role="grid" aria-label=${r} aria-rowcount=${e+1} aria-colcount=${l}
    onKeyDown=${y} onFocusIn=${E}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${c} style=${{height:`${e*t}px`}}>
      ${O.map(k=>a`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===m?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function Gn(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var zn=e=>e.value.slice(17).toLowerCase();function Pa({counts:e,total:t}){let[n,o]=q(),s=n.getAll("state"),r=i=>o({state:s.includes(i)?s.filter(l=>l!==i):[...s,i]});return a`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${s.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":w(t)}</span><span class="stat-w">all</span>
    </button>
    ${Vt.map(i=>{let l=e?.get(i.value);return a`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${s.includes(zn(i))}
        title="${i.help} A semaphore can be in several states."
        onClick=${()=>r(zn(i))}
      >
        <span class="stat-n num">${e?w(l):"–"}</span><span class="stat-w">
        <${Ct} value=${i.value} text=${zn(i)} /></span>
      </button>`})}
  </div>`}var Fa=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function qa({labels:e}){let[t,n]=q(),o=t.get("labels")??"",[s,r]=ke(o,u=>n({labels:u}),400),[i,l]=_(""),c=e?.find(u=>u.key===i)?.values??[],p=u=>{u&&(n({labels:[o,u==="*"?i:`${i}=${Fa(u)}`].filter(Boolean).join(",")}),l(""))};return a`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${s} placeholder="team=data,tier!=test" onInput=${u=>r(u.target.value)}
        autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&a`<${be} label="Add a label" value=${i} onChange=${l}
      options=${[["","Label …"],...e.map(u=>[u.key,u.key])]} />
      ${i&&a`<${be} label="Value" value="" onChange=${p}
        options=${[["","Value …"],["*","any value"],...c.map(u=>[u.value,`${u.value} (${w(u.count)})`])]} />`}`}`}function Ua({summary:e,shown:t}){let[n,o]=q(),[s,r]=ke(n.get("q")??"",$=>o({q:$})),[i,l]=ke(n.get("group")??"",$=>o({group:$}),400),c=["q","group","labels","state"].filter($=>n.get($)),{groups:p}=Xe(),u=zt("(min-width: 60rem)");return a`<form class="filters" role="search" onSubmit=${$=>$.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${s} placeholder="Words of name, description or label"
        onInput=${$=>r($.target.value)} onKeyDown=${$=>{$.key!=="ArrowDown"&&$.key!=="Enter"||($.preventDefault(),dispatchEvent(new Event("enter-list")))}} autocomplete="off" spellcheck=${!1} />
    </div>
    <details class="more-filters" open=${u||c.some($=>$==="group"||$==="labels")}>
      <summary>Filters</summary>
      <div class="filters-in">
        <div class="field">
          <label for="group">Admits group</label>
          <input id="group" value=${i} list="groups" placeholder="any" onInput=${$=>l($.target.value)}
            autocomplete="off" spellcheck=${!1} />
          <datalist id="groups">${p.map($=>a`<option value=${$} />`)}</datalist>
        </div>
        <${qa} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${c.length>0&&a`<button type="button"
        onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause</a>
    </p>
  </form>`}var Vn=["State","Semaphore","In use","Holder","Time left","Queue","Group pattern"],Jn=class extends st{shouldComponentUpdate(t){return t.record!==this.props.record}render({record:t}){return a`<${Wa} record=${t} />`}};function Wa({record:e}){if(!e)return a`<span class="row-loading" role="gridcell" aria-colspan=${Vn.length}>Reading …</span>`;let t=e.definition,n=e.holder,o=(e.holders??0)-1,s=Qo(e),r=`/s/${encodeURIComponent(t.name)}`,i=Number(e.used??0),l=t.permits??0,c=e.waiters??0;return a`
    <span class="c-state" role="gridcell"><${vr} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${r} tabindex="-1">${t.name}</a>
      <span class="sub" title=${s&&kt(e).join(`
`)}>${s??t.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${ve} share=${l?i/l:i?1:0} tone=${i>l?"deny":"accent"}
        label="${i} of ${l} permits in use" />
      <span>${w(i)}<span class="faint"> / ${w(l)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${n?a`<span class="clip">${P(n.identity)}</span>
          <span class="sub">for <${le} at=${n.granted_at} />${o>0&&` and ${w(o)} more`}</span>`:a`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${n?a`<${Jt} at=${e.deadline}
      of=${N(n.duration)} />`:a`<span class="faint">–</span>`}</span>
    <span class="c-queue num"
      role="gridcell">${c?a`<span class="tag tone-wait">${w(c)}</span>`:a`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${t.group_pattern}</code></span>`}var Ha=6e3;function Br(){re("Overview");let[e]=q(),t=Gn(e),n=Ur(t),o=zt("(max-width: 47.99rem)"),s=zt("(max-width: 63.99rem)"),r=o?104:s?76:52,{search:i,group:l,labels:c}=t,[p,u]=_(1e4),g=C(async A=>{let W=performance.now(),Y=await T("/v1/definitions:summarize",{search:i,group:l,labels:c},A);return u(Wt(performance.now()-W)),Y},["summary",i,l,c],{every:p,keep:!0}),$=de(()=>g.data&&new Map((g.data.states??[]).map(A=>[A.state,A.count])),[g.data]),[d,m]=_({names:[]}),f=F([0,0]),h=ze(()=>{let[A,W]=f.current,Y=[],K=0;for(let z=A;z<W&&K<Ha;z++){let J=n.at(z)?.definition.name;J&&(Y.push(J),K+=J.length+8)}m(z=>z.names.join(`
`)===Y.join(`
`)?z:{names:Y,from_revision:n.since(A,W)+1})},150),b=(A,W)=>{f.current=[A,W],n.want(A,W),h()};R(h),Ce(d.names.length?"/v1/watch":null,{...d,permits:!0,records:!0,live_every:"2s"},{open:A=>A&&n.refresh(),missed:n.refresh,message({records:A=[],undefined:W=[]}){n.update(A),W.length&&n.refresh()},live(A){let W=new Map((A.live.semaphores??[]).map(K=>[K.semaphore,K])),Y=Date.now();n.alter(K=>{if(!d.names.includes(K.definition.name))return K;let z=W.get(K.definition.name),J=z?.waiters??0,ee=z?.deadlines?.find(ue=>ue.token===K.holder?.token)?.expires_in,v=ee?Y+N(ee):K.deadline;return J===(K.waiters??0)&&Math.abs(v-K.deadline)<200?K:{...K,waiters:J,deadline:v}})}});let y=A=>{let W=n.at(A);W&&me(`/s/${encodeURIComponent(W.definition.name)}`)},E=n.total,O=E===void 0?"…":S(E,"semaphore","semaphores"),k=de(()=>a`<${te} aside=${a`<${Ba} />`}>Overview<//>
      <${Ye} />
      <${Pa} counts=${$} total=${g.data&&(g.data.total??0)} />
      <${Ua} summary=${g.data} shown=${O} />`,[$,g.data,O]);return a`${k}
    ${n.error&&!n.error.offline&&a`<${V} error=${n.error} retry=${n.refresh} />`}
    ${E===void 0?!n.error&&a`<${_e} what="Reading the semaphores" />`:E===0?a`<${Ka} filtered=${[...e].length>0} />`:a`<${Hr}
            label="Semaphores"
            total=${E}
            height=${r}
            columns=${Vn.length}
            range=${b}
            open=${y}
            head=${Vn.map(A=>a`<span role="columnheader">${A}</span>`)}
            row=${A=>a`<${Jn} record=${n.at(A)} />`}
          />`}`}function Ba(){let[e,t]=_(!1),[n,o]=_("");return a`<${L} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&a`<${ie} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${r=>{r.preventDefault(),n.trim()&&me(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${D} label="Name" value=${n} onInput=${o} maxlength="256" required
          help="Callers ask for it by this name. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button>
        <button class="primary">Write its rule …</button></p>
      </form>
    <//>`}`}function Ka({filtered:e}){return e?a`<${I} title="No semaphore matches.">Remove a filter to see more.<//>`:a`<${I} title="There are no semaphores yet.">A semaphore is a
    named rule: which groups and hosts may run a task, and how many at once. Create one here, with <code>gkctl apply -f
    FILE</code>, or with <code>gatekeeperd --definitions FILE</code>.<//>`}var za=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],Kr=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function Jr(){let[e,t]=q(),[n,o]=_(e.getAll("names").join(`
`)),[s,r]=_(e.get("labels")??""),[i,l]=_(e.get("all")==="1"),[c,p]=_(null),u=Gn(e),g=e.get("from_filter")==="1"&&(u.search||u.group||u.states.length>0);R(()=>{g&&Be("/v1/definitions",u,"records",void 0,1e3).then(({items:d,more:m})=>{o(d.map(f=>f.definition.name).join(`
`)),r(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),m&&p(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},p)},[]);let $=i?{all:!0}:{...Kr(n).length&&{names:Kr(n)},...s.trim()&&{labels:s.trim()}};return{names:n,setNames:o,labels:s,setLabels:r,everything:i,setEverything:l,selector:$,error:c,given:i||n.trim()!==""||s.trim()!==""}}function Gr({of:e,optional:t}){let n=C(e.given?r=>T("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:4},r):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],s=n.data?.total??0;return a`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${D} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything}
        placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${D} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything}
        placeholder="team=data,tier!=test" help="With names too: both must match." />
      <${ce} label="All semaphores" checked=${e.everything} onChange=${e.setEverything}
        help="Whatever names and labels they have." />
    </div>
    ${e.error&&a`<${V} error=${e.error} />`}
    ${n.error&&!n.error.offline&&a`<${V} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${S(s,"semaphore","semaphores")} chosen${o.length?`: ${Ke(o.map(r=>r.definition.name),4)}${s>4?" …":""}`:""}`:"Reading …":t??"Choose some, or all."}
    </p>
  </fieldset>`}var Qn=Do("ran");function Va(){let e=U(Qn),t=C(e?r=>T("/v1/history",{change:e.change,page_size:1},r):null,["ran",e?.change],{every:5e3}),n=F(Date.now());if(!e)return null;let o=t.data?.entries?.[0]?.undone_by,s=o&&o!=="0";return a`<section class="panel stack" aria-label="The last change made here">
    <div class="title"><h2>${e.text}</h2>
      <button type="button" class="plain" aria-label="Close" onClick=${()=>Qn.set(null)}>×</button></div>
    ${s?a`<p class="note">Undone by <a href=${`/activity?change=${o}`}>change ${o}</a>.</p>`:a`<${Fr} key=${e.change} change=${e.change} stopped=${e.stopped} begun=${e.at}
          later=${e.at<n.current} />`}
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Show change ${e.change}</a>
      ${!s&&a`<${L} role="ROLE_OPERATOR"
        onClick=${()=>xt(e.change,t.refresh)}>Undo …<//>`}
    </p>
  </section>`}var Yn=e=>(t,n)=>{let o=On(t);if(!o||o==="0")return;let s=t.effects?.length?t.effects:n.effects??[];Qn.set({text:e,change:o,at:Date.now(),stopped:s.flatMap(r=>r.stopped??[])}),scrollTo(0,0)};function Qr({id:e}){let{groups:t}=Xe();return a`<datalist id=${e}>${t.map(n=>a`<option value=${n} />`)}</datalist>`}function Ja({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return a`
    <p class="lead">${e.moves?.length?`${S(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&a`<span class="faint"> ${w(n)} others need no change.</span>`}</p>
    ${e.mistake&&a`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&a`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p>
        <ul>${e.doubts.map(o=>a`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&a`<div class="warnings">
      <p>${S(t.length,"semaphore has","semaphores have")} to be edited by hand:</p>
      <ul>${t.slice(0,20).map(o=>a`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function Ga(){let e=Jr(),[t]=q(),[n,o]=_({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[s,r]=_(!1),i=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...Re(n.drain),...we()}),l=!n.from.trim()||!n.to.trim()?"Enter both groups first.":Oe(()=>Re(n.drain));return a`<form class="stack" onSubmit=${c=>(c.preventDefault(),l||r(!0))}>
    <fieldset class="panel">
      <legend>Groups</legend>
      <div class="form">
        <${D} label="From group" value=${n.from} onInput=${c=>o({...n,from:c})}
          list="move-groups" required />
        <${D} label="To group" value=${n.to} onInput=${c=>o({...n,to:c})} list="move-groups" required />
        <${Qe} value=${n} set=${o} />
        <${Qr} id="move-groups" />
      </div>
    </fieldset>
    <${Gr} of=${e} optional="All semaphores that admit the old group and not the new one. Narrow them down by names or labels." />
    <p class="row end"><${L} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${l}>Preview the move …<//></p>
    ${s&&a`<${Q}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${c=>`Move ${S(c.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async c=>x("/v1/move",{...i(),dry_run:!0},c)}
      extra=${c=>a`<${Ja} of=${c} />`}
      nothing=${c=>c.moves?.length?"":c.mistake||"There is nothing to move."}
      run=${async(c,p)=>x("/v1/move",{...i(),expected:p.digest,...c})}
      done=${c=>`${S(c.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${Yn(`Moved from ${n.from} to ${n.to}`)}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function zr({resume:e}){let t=Jr(),[n,o]=_({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[s,r]=_(!1),i=()=>e?{selector:t.selector}:{selector:t.selector,...De(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...Re(n.drain)}},l=t.given?Oe(()=>(De(n),Re(n.drain))):"Choose some semaphores first.",c=e?"resume":"pause";return a`<form class="stack" onSubmit=${p=>(p.preventDefault(),l||r(!0))}>
    <${Gr} of=${t} />
    ${!e&&a`<fieldset class="panel">
      <legend>How long, and what happens to running work</legend>
      <div class="form">
        <${Pe} value=${n} set=${o} without="Empty: until resumed." />
        <${ce} label="Stop holders too" checked=${n.stop} onChange=${p=>o({...n,stop:p})}
          help="Otherwise running work continues until it finishes." />
        ${n.stop&&a`<${Qe} value=${n} set=${o} />`}
        <${ce} label="Keep existing pauses" checked=${n.keep} onChange=${p=>o({...n,keep:p})}
          help="Otherwise this pause replaces them, with its own end." />
      </div>
    </fieldset>`}
    <p class="row end"><${L} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${l}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${s&&a`<${Q}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async p=>x("/v1/preview",{[c]:i()},p)}
      run=${async(p,u)=>x(`/v1/${c}`,{...i(),expected:u.digest,...p})}
      done=${p=>`${S(p.names?.length??0,"semaphore","semaphores")} ${c}d.`}
      kind=${n.stop?"danger":void 0}
      onDone=${(p,u)=>Yn(`${S(p.names?.length??0,"semaphore","semaphores")} ${c}d`)(p,u)}
      onClose=${()=>r(!1)}
    />`}
  </form>`}var Vr=e=>ot(`${je(e)} is cordoned ${lt(e)}`);function Qa(){let[e]=q(),[t,n]=_({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,s]=_(!1),r=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...De(t),...Re(t.drain)}),i=!t.group.trim()&&!t.acquirer.trim()?"Enter a group or an acquirer first.":Oe(()=>r()),l=()=>je(r()),c=()=>t.lasts.trim()?`for ${t.lasts.trim()}`:lt(r());return a`<form class="stack" onSubmit=${p=>(p.preventDefault(),i||s(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Who is shut out, and for how long</legend>
      <div class="form">
        <${D} label="Group pattern" value=${t.group} onInput=${p=>n({...t,group:p})} list="cordon-groups"
          help="A caller is shut out when either pattern matches." />
        <${D} label="Acquirer pattern" value=${t.acquirer} onInput=${p=>n({...t,acquirer:p})}
          placeholder="host-3" />
        <${Pe} value=${t} set=${n} without="Empty: until the cordon is removed." />
        <${Qe} value=${t} set=${n} />
        <${Qr} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${L} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${i}>Preview the cordon …<//></p>
    ${o&&a`<${Q}
      title=${`Cordon ${l()}`}
      verb=${`Cordon ${l()}`}
      kind="danger"
      role="ROLE_OPERATOR"
      extra=${()=>a`<p class="lead">Nobody of ${l()} gets a permit of any semaphore, ${c()}.</p>`}
      preview=${async p=>x("/v1/preview",{cordon:r()},p)}
      run=${async p=>x("/v1/cordon",{...r(),...p})}
      done=${p=>`${Vr(p.cordon)}.`}
      onDone=${(p,u)=>Yn(Vr(p.cordon))(p,u)}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function Yr(){re("Move and pause");let[e]=q(),t=e.get("do")??"move";return a`<${te}>Move and pause<//>
    <${Ye} />
    <${Va} />
    <${it} of=${za} query="do" label="What to do" />
    ${t==="pause"?a`<${zr} key="pause" />`:t==="resume"?a`<${zr} key="resume" resume />`:t==="cordon"?a`<${Qa} />`:t==="move"?a`<${Ga} />`:a`<${I} title="There is no such form." />`}`}var Xr=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:Ke(e.names??[]),Zr=e=>e.names?.length===1?e.names[0]:"";function es({selector:e,onClose:t,onDone:n}){let[o,s]=_({lasts:"",until:"",stop:!1,drain:""}),r=()=>({selector:e,...De(o),...o.stop?{stop:!0,...Re(o.drain)}:{}});return a`<${Q}
    title=${`Pause ${Xr(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${Zr(e)}
    deps=${o}
    preview=${async i=>x("/v1/preview",{pause:r()},i)}
    run=${async(i,l)=>x("/v1/pause",{...r(),expected:l.digest,...i})}
    done=${i=>`${S(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. Callers keep their places in the queue.</p>
    <div class="form">
      <${Pe} value=${o} set=${s} without="Empty: until resumed." />
      <${ce} label="Stop holders too" checked=${o.stop} onChange=${i=>s({...o,stop:i})}
        help="Otherwise running work continues until it finishes." />
      ${o.stop&&a`<${Qe} value=${o} set=${s} />`}
    </div>
  <//>`}function ts({selector:e,onClose:t,onDone:n}){return a`<${Q}
    title=${`Resume ${Xr(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${Zr(e)}
    preview=${async o=>x("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,s)=>x("/v1/resume",{selector:e,expected:s.digest,...o})}
    done=${o=>o.names?.length?`${S(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function ns({name:e,record:t}){let[n,o]=q(),s=t?.denied?.[0],r=F(s&&{group:s.identity.group,acquirer:s.identity.acquirer,weight:s.weight>1?String(s.weight):"",worker:s.worker?"1":""}),i=n.has("acquirer")?{}:r.current??{},l={group:n.get("group")??i.group??"",acquirer:n.get("acquirer")??i.acquirer??"",weight:n.get("weight")??i.weight??"",worker:n.get("worker")??i.worker??""},[c,p]=_(l),{callers:u,groups:g}=Xe(1e3),$={identity:{group:l.group,acquirer:l.acquirer},...l.weight&&{weight:Number(l.weight)},...l.worker&&{worker:!0}},d=C(l.acquirer?h=>x(X`/v1/semaphores/${e}:explain`,$,h):null,["explain",e,l],{keep:!0,every:5e3}),m=h=>{h.preventDefault(),o(c),d.refresh()},f=h=>b=>p({...c,[h]:b});return a`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${m}>
      <${D} label="Group" value=${c.group} onInput=${f("group")} list="known-groups" placeholder="default"
        help="Where the caller runs: a zone, a site." />
      <${D} label="Acquirer" value=${c.acquirer} onInput=${f("acquirer")} list="known-acquirers" required
        help="The caller, normally a host." />
      <${D} label="Weight" type="number" min="1" value=${c.weight} onInput=${f("weight")} placeholder="1" />
      <${ce} label="As a worker" checked=${c.worker==="1"} onChange=${h=>f("worker")(h?"1":"")}
        help="A worker asks for a task." />
      <datalist id="known-groups">${g.map(h=>a`<option value=${h} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(u.map(h=>h.acquirer))].map(h=>a`<option value=${h} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${d.error&&!d.error.offline&&a`<${V} error=${d.error} />`}
    ${l.acquirer&&!d.data&&!d.error&&a`<${_e} what="Asking" />`}
    ${d.data&&a`<${Ya} of=${d.data} />`}
  </section>`}function Ya({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return a`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}">
    <strong>${t?"This caller would get a permit.":`Denied: ${j(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&a`<p class="note">Nothing is granted for another ${Math.ceil(N(e.recovering)/1e3)} s,
      after a recovery of the cluster.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>a`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}">
        <span aria-hidden="true">${n.passed?"✓":"✗"}</span>
        <span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&a`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>a`${o?", ":""}${P(n.identity)} for <${le} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${w(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&a`<p>${S(e.waiter_count,"caller is waiting","callers are waiting")} in the queue.</p>`}
    ${e.why_tasks_wait&&a`<p>${e.why_tasks_wait}</p>`}
  </div>`}var Xa={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function Za(e,t){let n="",o,s=[];do o=await T("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),s.push(...o.firings??[]),n=o.next_page_token??"";while(n&&s.length<2e4);return{...o,firings:s.reverse()}}function os({name:e,events:t}){let n=C(c=>Za(e,c),["firings",e,t],{keep:!0}),[o,s]=_(null),[r,i]=_(100),l=o&&{semaphore:e,firings:[o.firing],...we()};return a`<section class="panel">
    <h2>Firings</h2>
    <${H} of=${n} what="Reading the firings">
      ${c=>a`
        <p class="faint">${w(c.count)} remembered, at
        most ${w(c.limit)}.${c.forgotten_up_to&&` Those due until ${M(c.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${B}
          caption="Firings"
          rows=${c.firings.slice(0,r)}
          rowKey=${p=>Je(p.firing)}
          empty=${a`<${I} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing
            does, is remembered here.<//>`}
          columns=${[["Firing",p=>Je(p.firing),"name"],["State",p=>a`<span class="tag tone-${Xa[j(p.state,"FIRING_STATE_")]??"idle"}">${j(p.state,"FIRING_STATE_")}</span>`],["Who",p=>p.winner?P(p.winner):"–","name"],["Claimed at",p=>M(p.claimed_at)||"–","num"],["Attempts",p=>w(p.attempts),"num"],["Failure",p=>p.failure||"–"],["",p=>a`<${L} role="ROLE_OPERATOR" semaphore=${e}
              onClick=${()=>s(p)}>Forget …<//>`,"end"]]}
        />
        ${c.firings.length>r&&a`<button type="button" onClick=${()=>i(r*5)}>Show more</button>`}`}
    <//>
    ${o&&a`<${Q}
      title=${`Forget ${Je(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${c=>x("/v1/firings:forget",{...l,dry_run:!0},c)}
      run=${(c,p)=>x("/v1/firings:forget",{...l,plan:p.plan,...c})}
      done=${()=>`${Je(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>s(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function rs({name:e,events:t,onChange:n}){let[o,s]=q(),r=o.get("permits")==="1",[i,l]=_(50),c=C(p=>T("/v1/history",{names:[e],permits:r,page_size:i},p),["history",e,r,i,t],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>History</h2>
      <${ce} label="Show ended permits" checked=${r}
        onChange=${p=>s({permits:p?"1":""})} />
    </div>
    <${H} of=${c} what="Reading the journal">
      ${p=>a`
        ${p.entries?.length?a`<${Tt} entries=${p.entries} semaphore=${e}
          onChange=${n} />`:a`<${I} title="No changes are recorded." />`}
        ${p.next_page_token&&i<1e3&&a`<p class="row"><button type="button"
            onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var Xn=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],Zn=4,ss=12,ei={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function as({name:e,permits:t,events:n}){let[o,s]=q(),r=Xn.find(([c])=>c===o.get("span"))??Xn[0];Le();let i=Date.now()-r[1],l=C(c=>T("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-r[1]).toISOString(),page_size:1e3},c),["timeline",e,r[0],n],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${Xn.map(([c])=>a`<button type="button" key=${c} aria-pressed=${c===r[0]} onClick=${()=>s({span:c==="1h"?"":c})}>${c}</button>`)}
      </div>
    </div>
    <${H} of=${l} what="Reading the journal">
      ${c=>a`<${ti} entries=${c.entries??[]} permits=${t} from=${i} to=${Date.now()}
        more=${c.next_page_token} />`}
    <//>
  </section>`}function ti({entries:e,permits:t,from:n,to:o,more:s}){let r=[...t.map(u=>({who:P(u.identity),from:Date.parse(u.granted_at),to:o,how:"holds it now",tone:u.stop?"stop":"accent",token:u.token})),...e.filter(u=>u.permit&&u.kind!=="EVENT_KIND_GRANTED"&&u.permit.granted_at).map(u=>{let g=j(u.permit.ended,"PERMIT_END_")||j(u.kind,"EVENT_KIND_");return{who:P(u.permit.identity),from:Date.parse(u.permit.granted_at),to:Date.parse(u.permit.ended_at??u.at),how:g,tone:ei[g]??"idle",token:u.permit.token}})],i=new Set,l=new Map;for(let u of r)i.has(u.token)||u.to<n||(i.add(u.token),l.set(u.who,[...l.get(u.who)??[],u]));if(l.size===0)return a`<${I} title="Nobody held it in this time." />`;let c=u=>1e3*(Math.max(u,n)-n)/(o-n),p=e.filter(u=>!u.permit&&Date.parse(u.at)>=n);return a`<div class="timeline">
    ${[...l].slice(0,ss).map(([u,g])=>{let $=g[0],d=`${u}: ${S(g.length,"permit","permits")}, the last from ${M($.from)}, ${$.how}`;return a`<div class="lane" key=${u}>
        <span class="lane-name">${u}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${d}>
          <rect class="track" width="1000" height="18" />
          ${g.map(m=>a`<rect key=${m.token} class="fill-${m.tone}" x=${c(m.from)} y="2" height="14" width=${Math.max(1.5,c(m.to)-c(m.from))}>
            <title>${`${m.who}: ${M(m.from)}, ${m.how} after ${Z(m.to-m.from)}, token ${m.token}`}</title>
          </rect>`)}
          ${p.map(m=>a`<line key=${m.revision} class="mark" x1=${c(Date.parse(m.at))} x2=${c(Date.parse(m.at))} y1="0" y2="18"><title>${`${j(m.kind,"EVENT_KIND_")} by ${m.author??"–"} at ${M(m.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:Zn+1},(u,g)=>a`<span key=${g}>${g===Zn?"now":Me(n+(o-n)*g/Zn).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>ss||s)&&a`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history
        has all of it.</a></p>`}
  </div>`}function ni({permit:e,onClose:t,onDone:n}){let[o,s]=_({reason:"",drain:"",unsafe:!1}),[r,i]=_(null),[l,c]=_(!1);return a`<${ie} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async u=>{if(u.preventDefault(),!l){c(!0);try{let g={reason:o.reason,...we()};o.drain.trim()&&(g.drain=ye(o.drain)),o.unsafe&&(g.unsafe_now=!0),await x(X`/v1/permits/${e.token}:revoke`,g),xe(`The permit of ${P(e.identity)} is revoked.`),n(),t()}catch(g){i(g),c(!1)}}}}>
      <p>${P(e.identity)} must stop. Its refreshes will be refused, and its slot is free when it releases or when
      its permit expires.</p>
      <${D} label="Reason" value=${o.reason} onInput=${u=>s({...o,reason:u})} maxlength="1024" />
      <${D} label="Drain" placeholder="2m" value=${o.drain} onInput=${u=>s({...o,drain:u})}
        error=${Oe(()=>ye(o.drain))} help="How long it may continue. Empty: it must stop now." />
      <${ce} label="Free the slot immediately" checked=${o.unsafe} onChange=${u=>s({...o,unsafe:u})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${V} error=${r} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function oi({permit:e,onClose:t,onDone:n}){let[o,s]=_(""),[r,i]=_(null);return a`<${ie} title="Clear a slot" onClose=${t}>
    <form onSubmit=${c=>{c.preventDefault(),x(X`/v1/permits/${e.token}:clear`,{reason:o,...we()}).then(()=>{xe("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${P(e.identity)} expired, and its slot is held. Clear it once you know that its job
      is no longer running.</p>
      <${D} label="Reason" value=${o} onInput=${s} maxlength="1024" />
      <${V} error=${r} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button>
      <button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var ri=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function si({permits:e,onChange:t}){let[n,o]=_(null),s=()=>o(null);return a`<section class="panel">
    <h2>Holders</h2>
    <${B}
      caption="Holders"
      rows=${e}
      rowKey=${r=>r.token}
      empty=${a`<${I} title="Nobody holds a permit." />`}
      columns=${[["Holder",r=>a`${P(r.identity)}${r.identity?.holder_id&&a`<div class="sub">${r.identity.holder_id}</div>`}`,"name"],["State",r=>a`<span class="tone-${Zo(r)}">${Xo(r)}</span>`],["Since",r=>a`<${le} at=${r.granted_at} />`,"num"],["Time left",r=>a`<${Jt} at=${r.deadline} of=${N(r.duration)} />`,"num"],["Weight",r=>w(r.weight),"num"],["Token",r=>r.token,"num"],["For",r=>[Je(r.firing),ri(r.metadata)].filter(Boolean).join("; ")||"–"],["",r=>r.state==="PERMIT_STATE_HELD"?a`<${L} role="ROLE_OPERATOR" semaphore=${r.semaphore}
              onClick=${()=>o({clear:r})}>Clear …<//>`:r.state==="PERMIT_STATE_COOLING"?null:a`<${L} role="ROLE_OPERATOR" semaphore=${r.semaphore} group=${r.identity?.group}
                acquirer=${r.identity?.acquirer} onClick=${()=>o({revoke:r})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&a`<${ni} permit=${n.revoke} onClose=${s} onDone=${t} />`}
    ${n?.clear&&a`<${oi} permit=${n.clear} onClose=${s} onDone=${t} />`}
  </section>`}function ai({data:e}){let t=n=>new Date(e.at-N(n.waiting)).toISOString();return a`<section class="panel">
    <h2>Queue</h2>
    <${B}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${a`<${I} title="Nobody is waiting." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>P(n.identity),"name"],["Weight",n=>w(n.weight),"num"],["Waiting for",n=>a`<${le} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More callers are waiting than are shown here."}
    />
    ${(e.tasks??[]).map(n=>a`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${w(n.tasks)} tasks
        are waiting for a worker.</p>`)}
  </section>`}var ii=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function li({rows:e,caption:t}){return a`<${B}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${P(n.identity)}`}
    columns=${[["Caller",n=>P(n.identity),"name"],["Why",n=>a`${n.message}
        <div class="under">${j(n.reason,"REASON_")}${n.let_in&&`; ${P(n.let_in)} was let in, so this may be a standby`}${n.cured&&"; would not be denied now"}${n.semaphore&&a`. <a class="whole" href=${ii(n)}>Explain</a>`}</div>`],["Times",n=>w(n.count),"num"],["Last",n=>a`<span title=${M(n.last)}><${le} at=${n.last} /> ago</span>`,"num"]]}
  />`}function ci({name:e,events:t}){let n=C(o=>T("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return a`<section class="panel">
    <h2>Denied</h2>
    <${H} of=${n} what="Reading who was denied">
      ${o=>a`
        ${o.callers?.length?a`<${li} rows=${o.callers} caption="Callers that were denied" />`:a`<${I} title="Nobody is denied.">Callers appear here when waiting will not
            help them${o.since?`. Recorded since ${M(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&a`<h3>Possible typos of this name</h3>
          <ul>${o.misspelled.map(s=>a`<li>${P(s.identity)} asks for <code>${s.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function is({name:e,of:t}){return a`<div class="stack">
    <${H} of=${t.holders}
      what="Reading who holds it">${n=>a`<${si} permits=${n} onChange=${t.read} />`}<//>
    <${as} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${H} of=${t.waiters} what="Reading the queue">${n=>a`<${ai} data=${n} />`}<//>
      <${ci} name=${e} events=${t.events} />
    </div>
  </div>`}function rn(e={}){let t={};for(let n of $e){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(s=>o[s]===""?s:`${s}=${o[s]}`).join(`
`);break;case"duration":t[n.name]=Ne(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=Ve(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function ls(e,t={}){let n={...t},o={};for(let s of $e){let r=e[s.name]??"";try{let i=ui(s,r);i===void 0?delete n[s.name]:n[s.name]=i}catch(i){o[s.name]=i.message}}return{definition:n,errors:o}}function ui(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(s=>s.trim()).filter(Boolean)){let s=o.indexOf("="),r=(s<0?o:o.slice(0,s)).trim();if(!r)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,r))throw new Error(`The key ${r} stands here twice.`);Object.defineProperty(n,r,{value:s<0?"":o.slice(s+1).trim(),enumerable:!0})}return n}case"duration":return ye(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function cs(e,t,n){let o={},s=[],r=[];for(let i of $e){let[l,c,p]=[e[i.name],t[i.name],n[i.name]];o[i.name]=c===l?p:c,c!==l&&p!==l&&c!==p&&(s.push(i.name),o[i.name]=p),(c!==l||p!==l)&&r.push({field:i,base:l,mine:c,theirs:p})}return{merged:o,conflicts:s,rows:r}}function us({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:s,conflicts:r,rows:i}=e,[l,c]=_({}),p=r.filter($=>!l[$]),u=()=>{let $={...e.merged};for(let d of i)l[d.field.name]&&($[d.field.name]=d[l[d.field.name]]);n($)},g=$=>{let d=$.field.name;if(!r.includes(d))return $.mine===$.theirs?a`<${Xt}>the same<//>`:$.mine!==$.base?a`<${Xt} tone="accent">yours<//>`:a`<${Xt} tone="wait">theirs<//>`;let m=(f,h)=>a`<label class="radio">
      <input type="radio" name=${`keep-${d}`} checked=${l[d]===f}
        onChange=${()=>c({...l,[d]:f})} /> ${h}
    </label>`;return a`<fieldset class="radios">
      <legend class="sr-only">Which ${$.field.label} to
      keep</legend>${m("mine","yours")}${m("theirs","theirs")}</fieldset>`};return a`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${s.updated_by||"Somebody"} saved
    version ${s.version} at ${M(s.updated_at)}${s.reason&&` (${s.reason})`}. You began
      with version ${t?.version??"–"}. Nothing of yours is saved yet, and nothing is lost.</p>
    <${B}
      caption="Fields that differ"
      rows=${i}
      rowKey=${$=>$.field.name}
      columns=${[["Field",$=>$.field.label],["When you began",$=>a`<code>${$.base||"(none)"}</code>`],["Yours",$=>$.mine===$.base?a`<span class="faint">unchanged</span>`:a`<ins>${$.mine||"(none)"}</ins>`],["Theirs",$=>$.theirs===$.base?a`<span class="faint">unchanged</span>`:a`<ins class="theirs">${$.theirs||"(none)"}</ins>`],["Keep",g]]}
    />
    <p class="row end">
      <span class="grow" role="status">${p.length?`Choose for ${p.length===1?"1 field":`${p.length} fields`} that you both changed.`:"Everything is decided."}</span>
      <button type="button" onClick=${o}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${p.length?"true":void 0}
        onClick=${()=>p.length||u()}>Review the result …</button>
    </p>
  </section>`}var eo=60;function ps({name:e,group:t,acquirer:n}){let[o,s]=_({group:t,acquirer:n});R(()=>{let d=setTimeout(()=>s({group:t,acquirer:n}),250);return()=>clearTimeout(d)},[t,n]);let{callers:r,more:i}=Xe(1e3),l=C(o.group&&o.acquirer?async d=>{let m={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await x("/v1/preview",{edits:{edits:[{create:m}]}},d)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),c=l.data?.eligible??l.data?.total_admitted??0,p=new Set((l.data?.admitted??[]).map(d=>`${d.acquirer} in ${d.group}`)),u=l.error&&!l.error.offline?l.error.fields?.[0]?.rule??l.error.message:"",g=p.size>=c,$=[...r].sort((d,m)=>p.has(`${m.acquirer} in ${m.group}`)-p.has(`${d.acquirer} in ${d.group}`));return a`<div class="pattern-test full" aria-live="polite">
    ${u?a`<p class="error">${u}</p>`:r.length===0?a`<p class="faint">No caller has asked yet, so there is nobody to test the patterns on.</p>`:a`<p><strong class=${c?"tone-run":"tone-deny"}>These patterns let
          in ${c?w(c):"none"} of ${S(r.length,"known caller","known callers")}${i?" and more":""}.</strong></p>
            <ul class="chips">${$.slice(0,eo).map(d=>{let m=`${d.acquirer} in ${d.group}`,f=p.has(m);return!f&&!g?null:a`<li key=${m} class=${f?"in":"out"}><span aria-hidden="true">${f?"✓":"✗"}</span>
                <span class="sr-only">${f?"let in: ":"not let in: "}</span>${m}</li>`})}${r.length>eo&&a`<li class="out">and ${w(r.length-eo)} more</li>`}</ul>`}
  </div>`}var ds={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function ms({name:e,record:t,onSaved:n}){let[o,s]=q();if(o.get("edit")==="1"||!t)return a`<${pi} name=${e} record=${t} onSaved=${n}
    onDone=${()=>s({edit:""})} />`;let i=t.definition;return a`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${L} role="ROLE_EDITOR" semaphore=${e} kind="primary"
        onClick=${()=>s({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Te} of=${$e.map(l=>[l.label,Ve(l,i)&&(l.kind==="pattern"?a`<code>${Ve(l,i)}</code>`:Ve(l,i))])} />
    <p class="faint">Version ${t.version}, ${M(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var sn=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function pi({name:e,record:t,onSaved:n,onDone:o}){let[s,r]=_(t),[i,l]=_(()=>rn(t?.definition??ds)),[c,p]=_({}),[u,g]=_(!1),[$,d]=_(null),[m,f]=_({}),h=de(()=>rn(s?.definition??ds),[s]),{definition:b,errors:y}=ls(i,s?.definition??{name:e}),E=!s||$e.some(v=>i[v.name]!==h[v.name]),O=Object.keys(y).length>0,k=t&&s&&t.version!==s.version?t:null;R(()=>{if(!E||!s)return;let v=ue=>ue.preventDefault();return addEventListener("beforeunload",v),()=>removeEventListener("beforeunload",v)},[E]);let A=v=>ue=>{l(se=>({...se,[v]:ue})),f(se=>({...se,[v]:void 0}))},W=s?{replace:b,expected_version:s.version}:{create:{...b,name:e}},Y=()=>({edits:[W],...Re(c.drain),...s?De(c):{}}),K=v=>d({theirs:v,...cs(h,i,rn(v.definition))}),z=v=>{if(v.reason==="STALE_VERSION")return T(X`/v1/definitions/${e}`).then(se=>K(se.record),se=>xe(se.message,{tone:"deny"})),!0;let ue=v.fields?.filter(se=>$e.some(Ae=>se.field.endsWith(Ae.name)))??[];return ue.length===0?!1:(f(Object.fromEntries(ue.map(se=>[$e.find(Ae=>se.field.endsWith(Ae.name)).name,se.rule]))),!0)},J=v=>{let ue=y[v.name]??m[v.name],se=i[v.name],Ae={key:v.name,label:v.label,help:v.help,error:ue,class:se!==h[v.name]?"changed":""};if(v.kind==="flag")return a`<${ce} ...${Ae} checked=${se==="yes"}
      onChange=${pe=>A(v.name)(pe?"yes":"no")} />`;if(v.kind==="choice")return a`<${be} ...${Ae} value=${se} onChange=${A(v.name)}
      options=${v.values.map(pe=>[pe.toLowerCase(),pe.toLowerCase()])} />`;let Se=v.kind==="labels"?3:v.name==="description"?2:void 0;return a`<${D} ...${Ae} value=${se} onInput=${A(v.name)} area=${Se} name=${v.name}
      inputmode=${v.kind==="number"?"numeric":void 0} />`},ee=v=>{v.preventDefault(),!O&&E&&g(!0)};return $?a`<${us}
      of=${$}
      base=${s}
      onCancel=${()=>d(null)}
      onMerged=${v=>{r($.theirs),l(v),d(null),g(!0)}}
    />`:a`<section class="panel">
    <div class="title"><h2>${s?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&a`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version
      at ${M(k.updated_at)}, while you were editing.
      <button type="button" onClick=${()=>K(k)}>Compare and merge</button></p>`}
    <form onSubmit=${ee}>
      <div class="form">
        ${$e.filter(v=>!sn.includes(v.name)&&v.kind!=="pattern"&&["description","labels"].includes(v.name)).map(J)}
        ${$e.filter(v=>v.kind==="pattern").map(J)}
        <${ps} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${$e.filter(v=>!sn.includes(v.name)&&v.kind!=="pattern"&&!["description","labels"].includes(v.name)).map(J)}
      </div>
      <details open=${sn.some(v=>i[v]!==h[v]||y[v])}>
        <summary>Firings</summary>
        <div class="form">${$e.filter(v=>sn.includes(v.name)).map(J)}</div>
      </details>
      <p class="row end sticky-end">
        ${E&&a`<span class="grow faint">Nothing is saved yet.</span>`}
        ${s&&a`<button type="button" onClick=${o}>${E?"Discard":"Back"}</button>`}
        <${L} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary"
          why=${O?"Correct the marked fields first.":E?"":"There is nothing to save."}>Review and save …<//>
      </p>
    </form>
    ${u&&a`<${Q}
      title=${s?`Save ${e}`:`Create ${e}`}
      verb=${s?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${c}
      preview=${async v=>x("/v1/preview",{edits:Y()},v)}
      run=${async v=>x("/v1/definitions:edit",{...Y(),...v})}
      done=${v=>`${e} ${s?"saved":"created"} (change ${v.revision}).`}
      onError=${z}
      onClose=${()=>g(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${s&&a`<details><summary>Time limit and drain</summary>
        <div class="form"><${Pe} value=${c} set=${p}
          without="After that the old values come back. Empty: no limit." />
            <${Qe} value=${c} set=${p} /></div>
      </details>`}
    <//>`}
  </section>`}function fs({name:e,events:t}){let n=C(s=>T("/v1/jobs",{semaphore:e,page_size:200},s),["jobs",e,t],{every:5e3,keep:!0}),o=C(s=>T("/v1/workers",{semaphore:e},s),["workers",e,t],{every:5e3,keep:!0});return a`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${H} of=${n} what="Reading the jobs">
        ${s=>s.jobs?.length?a`<${Hn} jobs=${s.jobs} />`:a`<${I} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${H} of=${o} what="Reading the workers">${s=>a`<${Bn} data=${s} />`}<//>
    </section>
  </div>`}var di=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],mi=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+N(n.expires_in):0}));function fi(e){let t=C(u=>T(X`/v1/definitions/${e}`,{},u),["record",e],{every:15e3}),n=C(async u=>{let g=Date.now();return mi((await Be("/v1/holders",{names:[e]},"permits",u)).items,g)},["holders",e],{every:15e3}),o=C(async u=>({at:Date.now(),...await T("/v1/waiters",{names:[e],page_size:200},u)}),["waiters",e],{every:5e3}),[s,r]=_(null),[i,l]=_(0),c=ze(()=>{n.refresh(),o.refresh(),l(u=>u+1)},40,{rest:1e3}),p=()=>{t.refresh(),c()};return Ce("/v1/watch",{names:[e],permits:!0,records:!0,live_every:"1s"},{open:u=>u&&p(),missed:p,message({records:u=[],undefined:g=[]}){u.length&&t.set(()=>({record:u[0]})),g.length&&t.refresh(),(u.length||g.length)&&c()},live(u){let g=(u.live.semaphores??[]).find(m=>m.semaphore===e),$=Date.now(),d=new Map((g?.deadlines??[]).map(m=>[m.token,$+N(m.expires_in)]));n.set(m=>m?.map(f=>d.has(f.token)?{...f,deadline:d.get(f.token)}:f)),s&&(g?.waiters??0)!==s.waiters&&o.refresh(),r({waiters:g?.waiters??0})}}),{record:t,holders:n,waiters:o,live:s,events:i,read:p}}function $i({record:e,onChange:t}){let[n,o]=_(""),s=e.definition.name,r=()=>o("");return a`
    ${e.pause?a`<${L} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("resume")}>Resume …<//>`:a`<${L} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(s)}`}>Move …</a>
    <${L} role="ROLE_EDITOR" semaphore=${s} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&a`<${es} selector=${{names:[s]}} onClose=${r} onDone=${t} />`}
    ${n==="resume"&&a`<${ts} selector=${{names:[s]}} onClose=${r}
      onDone=${t} />`}
    ${n==="delete"&&a`<${Q}
      title=${`Delete ${s}`}
      verb="Delete"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${s}
      preview=${i=>x("/v1/preview",{edits:{edits:[{delete:s,expected_version:e.version}]}},i)}
      run=${i=>x("/v1/definitions:edit",{edits:[{delete:s,expected_version:e.version}],...i})}
      done=${()=>`${s} deleted.`}
      onDone=${()=>me("/")}
      onClose=${r}
    />`}`}function hi({record:e,holders:t,live:n}){let o=Number(e.used??0),s=e.definition.permits??0;return a`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${w(o)}<span class="faint"> / ${w(s)}</span></dd>
      <dd><${ve} share=${s?o/s:o?1:0} label="${o} of ${s} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${w(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${w(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function $s({name:e}){re(e);let t=fi(e),[n]=q(),o=n.get("tab")??"now",s=t.record.data?.record,r=t.record.error?.code==="NOT_FOUND",i=r&&!s;return a`
    <${te} aside=${s&&a`<${$i} record=${s} onChange=${t.read} />`}>${e}<//>
    <${Ye} />
    ${r&&a`<p class="note">This semaphore ${s?"was deleted":"does not exist"}. Its history and firings
      may still be there.</p>`}
    ${s&&!r&&a`<div class="standing">
      <p class="row">${wt(s).map(l=>a`<${Ct} key=${l.value} value=${l.value} />`)}</p>
      ${kt(s).map(l=>a`<p class="note">${l}</p>`)}
      <${hi} record=${s} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!r&&!t.record.error.offline&&a`<${V} error=${t.record.error} retry=${t.record.refresh} />`}
    <${it} of=${di} label="Parts of this semaphore" />
    ${!s&&!r?!t.record.error&&a`<${_e} what="Reading the semaphore" />`:o==="rule"?a`<${ms} key=${e} name=${e} record=${r?null:s} onSaved=${t.read} />`:o==="history"?a`<${rs} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?a`<${os} name=${e} events=${t.events} />`:o==="explain"?a`<${ns} name=${e} record=${s} />`:i?a`<${I} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at
                  its <a href="?tab=history">history</a>.<//>`:o==="tasks"?a`<${fs} name=${e} events=${t.events} />`:a`<${is} name=${e} of=${t} />`}`}var gi=[[/^\/$/,Br],[/^\/s\/(.+)$/,$s],[/^\/move$/,Yr],[/^\/activity$/,_r],[/^\/jobs$/,Mr],[/^\/jobs\/(.+)$/,jr],[/^\/cluster$/,Ir],[/^\/access$/,gr]];function _i(){return re("No such page"),a`<${te}>No such page<//><${I} title="There is nothing at this address.">
    <a href="/">Go to the overview</a><//>`}function bi(){let e=U(nt).split("?")[0],t=U(Ue),[n,o]=_(!1),s=U(ge);if(R(()=>{e!=="/login"&&!ge.get()&&wn().catch(()=>{}).then(()=>o(!0))},[e==="/login",t]),e==="/login")return a`<${Gt} bare><${Pr} /><//>`;if(!s&&!n)return a`<${Gt} bare>
    <${_e} what="Asking who you are" /><//>`;let[r,i]=Ao(e,gi)??[_i,[]];return a`<${Gt}><${r} key=${e} name=${i[0]} /><//>`}fo(a`<${bi} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
