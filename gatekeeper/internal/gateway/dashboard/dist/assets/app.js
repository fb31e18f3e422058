var J,lo,bs,Ue,pn,At,co,It,uo,mn,dn,ys,mt=Symbol.for("pv"),Nt={},Lt=[],ws=/^m(i|n|o|s|text|space)$/,fn=Array.isArray,$n=Lt.slice,tt=Object.assign;function et(e){e&&e.parentNode&&e.remove()}function po(e,t,n){var o,s,r,i={},l=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?s=t[r]:i[r]=t[r];return l>2&&(i.children=l>3?$n.call(arguments,2):n),dt(e,i,o,s,null)}function dt(e,t,n,o,s){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:mt,__v:s||++lo,__i:-1,__u:0};return!s&&J.vnode&&J.vnode(r),r}function Mt(e){return e.children}function it(e,t){this.props=e,this.context=t,this.__g=0}function He(e,t){if(t==null)return e.__&&He(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:He(e)}function ks(e){var t,n=e.__v,o=n.__e,s=[],r=[],i=e.__P;i&&((t=tt({constructor:mt},n)).__v=n.__v+1,J.vnode&&J.vnode(t),hn(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,s,o||He(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,_o(s,t,r),n.__=n.__e=null,t.__e!=o&&mo(t))}function mo(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),mo(e)}function ao(e){(8&e.__g||(e.__g|=8,Ue.push(e),At++))&&pn==J.debounceRendering||((pn=J.debounceRendering)||queueMicrotask)(fo)}function fo(){try{for(var e,t=1;Ue.length;)Ue.length>t&&Ue.sort(co),e=Ue.shift(),t=Ue.length,8&e.__g&&ks(e)}finally{(At=Ue.length)&&(pn||queueMicrotask)(fo)}}function $o(e,t,n,o,s,r,i,l,c,p,u){var g,$,d,m,f,h,v=o.__k||Lt,y=t.length;for(c=Ts(n,t,v,c,y),g=0;g<y;g++)(d=n.__k[g])!=null&&($=~d.__i&&v[d.__i]||Nt,d.__i=g,h=hn(e,d,$,s,r,i,l,c,p,u),m=d.__e,($.ref!=d.ref||8&$.__u)&&($.ref&&gn($.ref,null,d,$),d.ref&&u.push(d.ref,d.__c||m,d)),f=f||m,4&d.__u?(c=ho(d,c,e,!$.__v),$.__e&&($.__e=null)):typeof d.type=="function"&&h!==void 0?c=h:m&&(c=m.nextSibling),d.__u&=-21);return n.__e=f,c}function Ts(e,t,n,o,s){var r,i,l,c,p,u,g,$,d,m=n.length,f=m,h=0,v=0,y=e.__k=Array(s);for(r=0;r<s;r++)(i=t[r])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=y[r]=dt(null,i):fn(i)?i=y[r]=dt(Mt,{children:i}):i.constructor===mt&&i.__b?i=y[r]=dt(i.type,i.props,i.key,i.ref,i.__v):y[r]=i,c=r+h,i.__=e,i.__b=e.__b+1,l=null,~(p=i.__i=Es(i,n,c,f))&&(f--,(l=n[p])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,p==c-1?h--:p==c+1?h++:p!=c&&(p>c?h--:h++,v=1)):(~p||(s>m?h--:s<m&&h++),typeof i.type!="function"&&(i.__u|=4))):y[r]=null;if(v){for(u=[],g=[],r=0;r<s;r++)if((i=y[r])&&16&i.__u){for(h=0,$=u.length;h<$;)u[d=h+$>>1]<i.__i?h=d+1:$=d;u[h]=i.__i,g[r]=h+1}for(h=u.length;r--;)g[r]&&(g[r]==h?h--:y[r].__u|=4)}if(f)for(r=0;r<m;r++)!(l=n[r])||2&l.__u||(l.__e==o&&(o=He(l)),_n(l,l));return o}function ho(e,t,n,o){var s,r,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=e,t=ho(s[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=He(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function Es(e,t,n,o){var s,r=e.key,i=e.type,l=t[n],c=l&&!(2&l.__u);if(l===null&&r==null||c&&r==l.key&&i==l.type)return n;if(o>(c?1:0)){for(s=n-1;s>=0;s--)if((l=t[s])&&!(2&l.__u)&&r==l.key&&i==l.type)return s;for(s=n+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&r==l.key&&i==l.type)return s}return-1}function io(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function Rt(e,t,n,o,s){var r,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||io(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||io(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=dn[t]||(dn[t]=xs(t)),(e.__a||(e.__a={}))[t]=mn,r=t!=(t=t.replace(uo,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,r):e.removeEventListener(t,i,r));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function xs(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[It]==null)t[It]=mn++;else if(t[It]<this.__a[e])return;return n(J.event?J.event(t):t)}}}function hn(e,t,n,o,s,r,i,l,c,p){var u,g,$,d,m,f,h,v,y,D,I,k,G,se,ae,L,H,z,F=t.type;if(t.constructor!==mt)return null;128&n.__u&&(c=32&n.__u,u=n.__c.__z)&&(t.__u|=c,g=r=[],u.nodeType==8?l=Ot(u,r):r.push(u),l=r[0]||l),(u=J.__b)&&u(t);e:if(typeof F=="function"){$=i.length;try{if(v=t.props,y=(u=F.prototype)&&u.render,D=(u=F.contextType)&&o[u.__c],I=u?D?D.props.value:u.__:o,(d=n.__c)?(t.__c=d,2&d.__g&&(d.__g|=1)):(y?t.__c=d=new F(v,I):(t.__c=d=new it(v,I),d.constructor=F,d.render=Ds),D&&D.sub(d),d.state||(d.state={}),d.__n=o,d.__g|=8,d.__h=[],d.__k=[]),y&&(d.__s||(d.__s=d.state),F.getDerivedStateFromProps&&(d.__s==d.state&&(d.__s=tt({},d.__s)),tt(d.__s,F.getDerivedStateFromProps(v,d.__s)))),m=d.props,f=d.state,d.__v=t,n.__c){if(v!==m&&y&&!F.getDerivedStateFromProps&&d.componentWillReceiveProps&&d.componentWillReceiveProps(v,I),t.__v==n.__v&&!(8&d.__g)||!(4&d.__g)&&d.shouldComponentUpdate&&d.shouldComponentUpdate(v,d.__s,I)===!1){t.__v!=n.__v&&(d.props=v,d.state=d.__s,d.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(b){b&&(b.__=t)}),Lt.push.apply(d.__h,d.__k),d.__k=[],d.__h.length&&i.push(d),l=He(n);break e}d.componentWillUpdate&&d.componentWillUpdate(v,d.__s,I),y&&d.componentDidUpdate&&d.__h.push(function(){d.componentDidUpdate(m,f,h)})}else y&&!F.getDerivedStateFromProps&&d.componentWillMount&&d.componentWillMount(),y&&d.componentDidMount&&d.__h.push(d.componentDidMount);d.context=I,d.props=v,d.__P=e,d.__g&=-5,k=J.__r,G=y?25:0;do d.__g&=-9,k&&k(t),u=d.render(d.props,d.state=d.__s,d.context);while(8&d.__g&&++G<25);y&&(Lt.push.apply(d.__h,d.__k),d.__k=[]),d.state=d.__s,d.getChildContext&&(o=tt({},o,d.getChildContext())),y&&n.__c&&d.getSnapshotBeforeUpdate&&(h=d.getSnapshotBeforeUpdate(m,f)),se=u&&u.type===Mt&&u.key==null?u.props.children:u,v.__P&&(u=l,s=(e=v.__P).namespaceURI,c=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(b){b&&_n(b,b)}),n.__k=null),l=n.__k?He(n,0):null),l=$o(e,fn(se)?se:[se],t,n,o,s,r,i,l,c,p),v.__P&&(t.__e=null,l=u),t.__u&=-161,g&&g.some(et),d.__h.length&&i.push(d),1&d.__g&&(d.__g&=-4)}catch(b){if(i.length=$,t.__v=null,c||r)if(b&&b.then){if(t.__u|=128|c,r){for(~(H=r.indexOf(l||void 0))||(H=r.length);(z=r[H-1])&&z.nodeType==8;)H--;for(;H<r.length;H++)if(z=r[H])if(r[H]=null,ae){if(z==L)break}else{if(z.nodeType!=8)break;z.data.startsWith("$s")&&(L=Ot(ae=z))}}if(!ae){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;ae=l}(u=Ot(ae=t.__c.__z||(t.__c.__z=ae)))?(t.__e=ae,l=u):t.__e=l,l=l&&l.nextSibling}else r&&r.some(et);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),b&&b.then||go(t),J.__e(b,t,n)}}else l=t.__e=Ss(n.__e,t,n,o,s,r,i,c,p,e);return(u=J.diffed)&&u(t),l}function Ot(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function go(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(go))}function _o(e,t,n){for(var o=0;o<n.length;)gn(n[o++],n[o++],n[o++]);J.__c&&J.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(r){r.call(s)})}catch(r){J.__e(r,s.__v)}})}function Ss(e,t,n,o,s,r,i,l,c,p){var u,g,$,d,m,f,h,v,y=n.props||Nt,D=t.props,I=t.type;if(I=="svg"?s="http://www.w3.org/2000/svg":I=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(u=0;u<r.length;u++)if((m=r[u])&&(I?m.localName==I:m.nodeType==3)){e=m,r[u]=null;break}}if(!e){if(v=p.ownerDocument||document,!I)return v.createTextNode(D);e=v.createElementNS(s,I,D.is?D:p),l&&(J.__m&&J.__m(t,r),l=!1),r=null}if(I){if(p=I=="template"&&e.content||e,r=I=="textarea"&&D.defaultValue!=null?null:r&&$n.call(p.childNodes),!l&&r)for(y={},u=0;u<e.attributes.length;u++)y[(m=e.attributes[u]).name]=m.value;for(u in y)m=y[u],u=="dangerouslySetInnerHTML"?$=m:u=="children"||u in D||u=="value"&&"defaultValue"in D||u=="checked"&&"defaultChecked"in D||Rt(e,u,null,m,s);for(u in D)m=D[u],u=="children"?d=m:u=="dangerouslySetInnerHTML"?g=m:u=="value"?f=m:u=="checked"?h=m:l&&typeof m!="function"||y[u]===m||Rt(e,u,m,y[u],s);g?(l||$&&(g.__html==$.__html||g.__html==e.innerHTML)||(e.innerHTML=g.__html),t.__k=[]):($&&(e.textContent=""),(I=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&ws.test(I))&&(s="http://www.w3.org/1999/xhtml"),$o(p,fn(d)?d:[d],t,n,o,s,r,i,r?r[0]:n.__k&&He(n,0),l,c),r&&r.some(et)),l&&I!="textarea"||(u="value",I=="progress"&&f==null?e.removeAttribute(u):f==null||f===e[u]&&(I!="progress"||f)||Rt(e,u,f,y[u],s),u="checked",h!=null&&h!=e[u]&&Rt(e,u,h,y[u],s))}else y===D||l&&e.data==D||(e.data=D);return e}function gn(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){J.__e(s,n)}}function _n(e,t,n){var o,s,r,i;if(J.unmount&&J.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||gn(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){J.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&_n(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=Ot(o,r=[]))&&(o==e.__e&&r.some(et),et(s),et(o)),n||et(e.__e),e.__e=e.__c=e.__=null}function Ds(e,t,n){return this.constructor(e,n)}function vo(e,t){var n,o,s,r;J.__&&J.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=dt(Mt,{children:[e]}),s=[],r=[],hn(t,t.__k,o||Nt,Nt,t.namespaceURI,o?null:t.firstChild?$n.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,r),_o(s,t.__k,r),t.__k.props.children=null}J={__e:function(e,t,n,o){for(var s,r,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw At=0,e}},lo=0,bs=function(e){return e!=null&&e.constructor===mt},it.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=tt({},this.state)),typeof e=="function"&&(e=e(tt({},n),this.props)),e&&(tt(n,e),this.__v&&(t&&this.__k.push(t),ao(this)))},it.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),ao(this))},it.prototype.render=Mt,Ue=[],At=0,co=function(e,t){return e.__v.__b-t.__v.__b},It=Symbol(),uo=/(PointerCapture)$|Capture$/i,mn=0,dn={},ys=0;var nt,te,vn,bo,bn=Object.is,jt=0,Co=[],yn=[],ee=J,yo=ee.__b,wo=ee.__r,ko=ee.diffed,To=ee.__c,Eo=ee.unmount,xo=ee.__;function $t(e,t){ee.__h&&ee.__h(te,e,jt||t),jt=0;var n=te.__H||(te.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function _(e){return jt=1,Cs(Ro,e)}function Cs(e,t,n){var o=$t(nt++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):Ro(void 0,t),function(r){var i=(o.__N||o.__)[0],l=o.t(i,r);bn(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=te,!te.__f)){te.__f=!0;var s=te.shouldComponentUpdate;te.shouldComponentUpdate=function(r,i,l){var c=this.__H;if(!c)return!0;var p=!1,u=this.props!=r;if(c.__.some(function($){$.__N&&(p=!0,bn($.__[0],$.__N[0])||(u=!0))}),s){var g=s.call(this,r,i,l);return p?g||u:g}return!p||u}}return o.__}function C(e,t){var n=$t(nt++,3);!ee.__s&&kn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,te.__H.__h.push(n))}function ht(e,t){var n=$t(nt++,4);!ee.__s&&kn(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,te.__h.push(n))}function q(e){return jt=5,$e(function(){return{current:e}},[])}function $e(e,t){var n=$t(nt++,7);return kn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function gt(){var e=$t(nt++,11);if(!e.__){for(var t=te.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Rs(){var e;do{for(;e=yn.shift();)try{ft(e)}catch(n){ee.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=Co.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(ft),t.__h.some(wn),t.__h=[]}catch(n){t.__h=[],ee.__e(n,e.__v)}}}while(yn.length)}ee.__b=function(e){te=null,yo&&yo(e)},ee.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),xo&&xo(e,t)},ee.__r=function(e){wo&&wo(e),nt=0;var t=(te=e.__c).__H;t&&(vn==te?te.__h=[]:(t.__h.some(ft),t.__h.some(wn),nt=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),vn=te},ee.diffed=function(e){ko&&ko(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Do(Co.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),vn=te=null},ee.__c=function(e,t){t.some(function(n){try{n.__h.some(ft),n.__h=n.__h.filter(function(o){return!o.__||wn(o)})}catch(o){n.__h=[function(){throw o}]}}),To&&To(e,t)},ee.unmount=function(e){Eo&&Eo(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,Do(yn.push(s))}else ft(s)}catch(r){t=r}}),o.__H=void 0,t&&ee.__e(t,o.__v))};var So=typeof requestAnimationFrame=="function";function Is(e){var t,n=function(){clearTimeout(o),So&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);So&&(t=requestAnimationFrame(n))}function Do(e){e!=1&&bo==ee.requestAnimationFrame||((bo=ee.requestAnimationFrame)||Is)(Rs)}function ft(e){var t=te,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),te=t}function wn(e){var t=te;e.__c=e.__(),te=t}function kn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!bn(n,e[o])})}function Ro(e,t){return typeof t=="function"?t(e):t}var Oo=function(e,t,n,o){var s;t[0]=0;for(var r=1;r<t.length;r++){var i=t[r++],l=t[r]?(t[0]|=i?1:2,n[t[r++]]):t[++r];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++r]]=l:i===6?o[1][t[++r]]+=l+"":i?(s=e.apply(l,Oo(e,l,n,["",null])),o.push(s),l[0]?t[0]|=2:(t[r-2]=0,t[r]=s)):o.push(l)}return o},Io=new Map;function Ao(e){var t=Io.get(this);return t||(t=new Map,Io.set(this,t)),(t=Oo(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,r=1,i="",l="",c=[0],p=function($){r===1&&($||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?c.push(0,$,i):r===3&&($||i)?(c.push(3,$,i),r=2):r===2&&i==="..."&&$?c.push(4,$,0):r===2&&i&&!$?c.push(5,0,!0,i):r>=5&&((i||!$&&r===5)&&(c.push(r,0,i,s),r=6),$&&(c.push(r,$,0,s),r=6)),i=""},u=0;u<n.length;u++){u&&(r===1&&p(),p(u));for(var g=0;g<n[u].length;g++)o=n[u][g],r===1?o==="<"?(p(),c=[c],r=3):i+=o:r===4?i==="--"&&o===">"?(r=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(p(),r=1):r&&(o==="="?(r=5,s=i,i=""):o==="/"&&(r<5||n[u][g+1]===">")?(p(),r===3&&(c=c[0]),r=c,(c=c[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(p(),r=2):i+=o),r===3&&i==="!--"&&(r=4,c=c[0])}return p(),c})(e)),t),arguments,[])).length>1?t:t[0]}var a=Ao.bind(po);function re(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function U(e){let[t,n]=_(e.get());return C(()=>(n(e.get()),e.subscribe(n)),[e]),t}function No(e){let t=re(null);try{t.set(JSON.parse(sessionStorage.getItem(e)))}catch{}return t.subscribe(n=>{try{sessionStorage.setItem(e,JSON.stringify(n))}catch{}}),t}function Ft(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=re(n);return o.subscribe(s=>{try{localStorage.setItem(e,s)}catch{}}),o}var Pt=()=>location.pathname+location.search,ot=re(Pt()),Lo=0;addEventListener("popstate",()=>ot.set(Pt()));function pe(e,{replace:t=!1}={}){e!==Pt()&&(t?history.replaceState(history.state,"",e):(Lo++,history.pushState({depth:Lo},"",e)),ot.set(Pt()))}function Mo(){history.state?.depth>0?history.back():pe("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():pe(t.pathname+t.search))});function B(){let e=U(ot);return[$e(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:s=!0}={})=>{let r=new URLSearchParams(location.search);for(let[l,c]of Object.entries(o)){r.delete(l);for(let p of[c].flat())p&&r.append(l,p)}let i=r.toString();pe(location.pathname+(i?`?${i}`:""),{replace:s})}]}function oe(e){C(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function jo(e,t){for(let[n,o]of t){let s=n.exec(e);if(s)try{return[o,s.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function De(e,t,n=200){let[o,s]=_(e);return C(()=>s(e),[e]),C(()=>{if(o===e)return;let r=setTimeout(()=>t(o),n);return()=>clearTimeout(r)},[o]),[o,s]}var Ce=re({online:!0}),Be=re(0),_t=null;function qt(){Ce.get().online||(clearTimeout(_t),_t=null,Ce.set({online:!0}),Be.set(Be.get()+1))}function vt(e){let t=Ce.get();Ce.set({online:!1,since:t.since??Date.now(),message:e}),_t===null&&(_t=setTimeout(Fo,1e3))}async function Fo(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return qt();let t=await e.json().catch(()=>null);t?.message&&Ce.set({...Ce.get(),message:t.message})}catch{}Ce.get().online||(_t=setTimeout(Fo,1e3))}var We=class extends Error{constructor(t,n){super(n?.message||(t?`The server returned status ${t}.`:"The server is not responding.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function X(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Ut(e={}){let t=new URLSearchParams;for(let[o,s]of Object.entries(e))for(let r of Array.isArray(s)?s:[s])r!=null&&r!==""&&r!==!1&&r!==0&&t.append(o,r);let n=t.toString();return n?`?${n}`:""}var Tn=0n,Po=0,Ke=()=>Date.now()+Po;function qo(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:Tn.toString()}}function Os(e){try{let t=BigInt(e?.revision??0);t>Tn&&(Tn=t)}catch{}}async function Le(e,t,{query:n,body:o,signal:s}={}){let r={method:e,signal:s,headers:{Accept:"application/json"}};o!==void 0&&(r.headers["Content-Type"]="application/json",r.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Ut(n),r),l=i.ok?await i.json():await i.json().catch(()=>null)}catch(c){throw s?.aborted?c:(vt("The server is not responding."),new We(0))}return Ht(i,l)}function Ht(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let s=n-Date.now();Po=Math.abs(s)>2e3?s:0}if(e.ok)return qt(),Os(t),t??{};let o=new We(e.status,t);throw o.offline?vt(o.message):qt(),e.status===401&&As(),o}var Bt=e=>e<40?1e4:e<300?3e4:6e4,x=(e,t,n)=>Le("GET",e,{query:t,signal:n}),E=(e,t,n)=>Le("POST",e,{body:t,signal:n}),bt=(e,t,n)=>Le("PUT",e,{body:t,signal:n}),Uo=(e,t)=>Le("DELETE",e,{query:t});function As(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Ut({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function ze(e,t,n,o,s=5e3){let r=[],i="";do{let l=await x(e,{page_size:1e3,...t,page_token:i},o);r.push(...l[n]??[]),i=l.next_page_token??""}while(i&&r.length<s);return{items:r,more:i!==""}}var w=e=>Number(e??0).toLocaleString("en"),T=(e,t,n)=>`${w(e)} ${Number(e)===1?t:n}`,O=e=>e?Math.round(parseFloat(e)*1e3):0;function ge(e){if(!e)return"0s";if(e<0)return`-${ge(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let s=Math.floor(e/o);s&&(t+=s+n),e-=s*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function Q(e){return e<0?"0s":e<1e4?ge(Math.round(e/100)*100):e<36e5?ge(Math.round(e/1e3)*1e3):e<48*36e5?ge(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var lt=e=>Q(Math.max(0,Math.round(e/1e3))*1e3),Ns={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Te(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,s,r)=>(t+=parseFloat(s)*Ns[r],""))!=="")throw new Error(`“${e}” is not a duration. Use a format such as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var Me=e=>e==null?"":ge(O(e));var Ve=e=>e.charAt(0).toUpperCase()+e.slice(1),rt=(e="")=>{let t=Ve(e);return/[.!?…]$/.test(t)?t:`${t}.`},yt=e=>String(e).padStart(2,"0");function N(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${yt(t.getMonth()+1)}-${yt(t.getDate())}`} ${Wt(t)}`}var Wt=e=>`${yt(e.getHours())}:${yt(e.getMinutes())}:${yt(e.getSeconds())}`;function Ie(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(Ke()).toDateString()?Wt(t):N(e)}function he(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function Je(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${w(n)} more`:"")}function En(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var _e=re(null),zt=Ft("author",""),Ee=()=>_e.get()?.authenticated?{}:{author:zt.get()||"dashboard"};async function xn(){let e=await x("/session");_e.set({authenticates:e.authenticated??!1,...e}),Kt.clear()}async function Ho(e){await Le("POST","/session",{body:{token:e}}),await xn()}async function Bo(){await Le("DELETE","/session"),_e.set(null)}var Kt=new Map;function Ls(e){let t=JSON.stringify(e),n=Kt.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),promise:E("/v1/can-i",e)},n.promise.catch(()=>Kt.delete(t)),Kt.set(t,n)),n.promise}function Wo(e,t="",n="",o=""){let s=U(_e),[r,i]=_("");return C(()=>{if(!e||!s?.authenticated)return i("");let l=!1;return Ls({role:e,semaphore:t,group:n,acquirer:o}).then(c=>l||i(c.allowed?"":rt(c.reason)),()=>l||i("")),()=>l=!0},[e,t,n,o,s]),r}var Ms=4e4,js=5e3;function zo(e,t,n){let o=!1,s=0,r=!1,i="",l=null,c=null,p=()=>{clearTimeout(c),l?.abort(),l=null},u=()=>{o=!0,p(),document.removeEventListener("visibilitychange",g)},g=()=>{document.hidden?p():l||d()},$=m=>{if(m.id&&(i=m.id),!m.data)return;let f=JSON.parse(m.data);if(m.type==="end")u(),n.end?.();else if(m.type==="error"){let h=new We(f.status??500,f);Ko(f.code)||(u(),n.error?.(h))}else n[m.type]?.(f,m.id)};async function d(){clearTimeout(c);let m=l=new AbortController,f=null,h=()=>{clearTimeout(f),f=setTimeout(()=>m.abort(),Ms)};try{h();let v={Accept:"text/event-stream"};i&&(v["Last-Event-ID"]=i);let y=await fetch(e+Ut(t),{headers:v,signal:m.signal});if(!y.ok||!y.headers.get("Content-Type")?.startsWith("text/event-stream"))throw Ht(y,await y.json().catch(()=>null)),new We(500,{message:"The response is not an event stream."});s=0,Ht(y,{}),n.open?.(r),r=!0,await Fs(y.body,D=>!o&&$(D),h)}catch(v){v instanceof We?!v.offline&&!Ko(v.code)&&v.status!==401?(u(),n.error?.(v)):v.status===401&&u():m.signal.aborted||vt("The connection to the server was lost.")}finally{clearTimeout(f)}o||l!==m||(l=null,!document.hidden&&(s++,c=setTimeout(d,Math.min(js,500*s)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",g),document.hidden||d(),u}var Ko=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function Fs(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),s="",r={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let c=(s+i).split(`
`);s=c.pop();for(let p of c){if(p.endsWith("\r")&&(p=p.slice(0,-1)),p===""){t(r),r={type:"message",id:"",data:""};continue}let u=p.indexOf(":");if(u<=0)continue;let g=p.slice(u+1).replace(/^ /,"");switch(p.slice(0,u)){case"event":r.type=g;break;case"id":r.id=g;break;case"data":r.data+=g}}}}var Ps=1e4;function S(e,t,{every:n=0,keep:o=!1}={}){let[s,r]=_({}),[i,l]=_(0),c=U(Be),p=JSON.stringify(t),u=q(e);u.current=e;let g=q(0);C(()=>{if(e===null)return;let m=new AbortController,f=h=>{m.signal.aborted||(g.current=0,r(h))};return g.current=Date.now(),u.current(m.signal).then(h=>f({data:h,key:p}),h=>f(v=>({...v,error:h,failed:p}))),()=>m.abort()},[p,i,c,e===null]),C(()=>{if(!n)return;let m=setInterval(()=>document.hidden||Date.now()-g.current<Ps||l(f=>f+1),n);return()=>clearInterval(m)},[n]);let $=s.key===p,d=s.failed===p?s.error:void 0;return{data:$||o?s.data:void 0,error:d,loading:!$&&!d,refresh:()=>l(m=>m+1),set:m=>r(f=>{let h=m(f.key===p?f.data:void 0);return h===void 0?f:{data:h,key:p}})}}function Oe(e,t,n){let o=q(n);o.current=n;let s=JSON.stringify([e,t]);C(()=>{if(!e)return;let r=i=>(...l)=>o.current[i]?.(...l);return zo(e,t,{message:r("message"),live:r("live"),missed:r("missed"),open:r("open"),error:r("error"),end:r("end")})},[s])}var Sn=re(0),Vo=null,Jo=0;function je(){return C(()=>(Jo++===0&&(Vo=setInterval(()=>document.hidden||Sn.set(Sn.get()+1),1e3)),()=>{--Jo===0&&clearInterval(Vo)}),[]),U(Sn)}function Fe(e,t,{rest:n=t,burst:o=4}={}){let s=q(e);s.current=e;let r=q(null),i=q(0);return C(()=>()=>clearTimeout(r.current),[]),()=>{if(r.current!==null)return;let l=performance.now();i.current=Math.max(i.current,l)+n,r.current=setTimeout(()=>{r.current=null,s.current()},Math.max(t,i.current-l-o*n))}}function Vt(e){let[t,n]=_(()=>matchMedia(e).matches);return C(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}function ve({what:e="Loading"}){return a`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function A({title:e,children:t}){return a`<div class="empty"><p class="empty-title">${e}</p>${t&&a`<p>${t}</p>`}</div>`}function V({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return a`<div class="failure" role="alert">
    <p class="failure-text">${rt(e.message)}</p>
    ${e.code==="UNAUTHENTICATED"&&a`<p>Log in again.</p>`}
    ${n.length>0&&a`<ul>${n.map(o=>a`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&a`<p>If you were making a change, its outcome is unknown; check Activity. It is safe to press
      the same button again: the change is made only once.</p>`}
    <p class="row">
      ${t&&a`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&a`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}function W({source:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?a`<${V} error=${e.error} retry=${e.refresh} />`:a`<${ve} what=${t} />`:a`${e.error&&!e.error.offline&&a`<${V} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function Go(){let e=U(Ce);return je(),e.online?a`<div role="status" class="sr-only"></div>`:a`<div class="offline" role="status">
    <strong>${rt(e.message)}</strong>
    <span> This page shows the state as of ${Wt(new Date(e.since))}. It retries every second and
    recovers automatically.</span>
  </div>`}var wt=re([]),qs=0;function xe(e,{tone:t="run",action:n}={}){wt.set([...wt.get().slice(-2),{id:++qs,text:e,tone:t,action:n}])}var Dn=e=>wt.set(wt.get().filter(t=>t.id!==e));function Us({id:e,text:t,tone:n,action:o}){return C(()=>{let s=setTimeout(()=>Dn(e),o?15e3:6e3);return()=>clearTimeout(s)},[e]),a`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&a`<button type="button" onClick=${()=>(Dn(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>Dn(e)}>×</button>
  </div>`}function Qo(){let e=U(wt);return a`<div class="notices" role="status">${e.map(t=>a`<${Us} key=${t.id} ...${t} />`)}</div>`}function M({role:e,semaphore:t,group:n,acquirer:o,why:s,kind:r="",children:i,onClick:l,type:c="button",...p}){let u=Wo(e,t,n,o),g=gt(),$=u||s;return a`<span class="action">
    <button
      type=${$?"button":c}
      class=${r}
      aria-disabled=${$?"true":void 0}
      aria-describedby=${$?g:void 0}
      onClick=${$?void 0:l}
      ...${p}
    >${i}</button>
    ${$&&a`<span class="why" role="tooltip" id=${g}>${$}</span>`}
  </span>`}function le({title:e,onClose:t,wide:n,persistent:o,children:s}){let r=q(null),i=gt();return ht(()=>{let l=document.activeElement,c=r.current;return c.showModal(),()=>{c.close(),l?.isConnected&&l.focus()}},[]),a`<dialog
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
  </dialog>`}function Yo({label:e,help:t,error:n,children:o,class:s=""}){let r=gt(),i=[t&&`${r}-help`,n&&`${r}-error`].filter(Boolean).join(" ")||void 0;return a`<div class="field ${s}">
    <label for=${r}>${e}</label>
    ${o({id:r,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&a`<p class="help" id="${r}-help">${t}</p>`}
    ${n&&a`<p class="error" id="${r}-error" role="alert">${n}</p>`}
  </div>`}function R({label:e,help:t,error:n,value:o,onInput:s,area:r,class:i,...l}){return a`<${Yo} label=${e} help=${t} error=${n} class=${i}>
    ${c=>r?a`<textarea rows=${r} value=${o} onInput=${p=>s(p.target.value)} ...${c}
          ...${l}></textarea>`:a`<input value=${o} onInput=${p=>s(p.target.value)} autocomplete="off" spellcheck=${!1}
          ...${c} ...${l} />`}
  <//>`}function be({label:e,help:t,error:n,value:o,options:s,onChange:r,class:i}){return a`<${Yo} label=${e} help=${t} error=${n} class=${i}>
    ${l=>a`<select value=${o} onChange=${c=>r(c.target.value)} ...${l}>
      ${s.map(([c,p])=>a`<option value=${c} selected=${c===o}>${p}</option>`)}
    </select>`}
  <//>`}function de({label:e,help:t,checked:n,onChange:o}){let s=gt();return a`<div class="check">
    <input type="checkbox" id=${s} checked=${n} aria-describedby=${t?`${s}-help`:void 0}
      onChange=${r=>o(r.target.checked)} />
    <label for=${s}>${e}</label>
    ${t&&a`<span class="help" id="${s}-help">${t}</span>`}
  </div>`}function ct({tabs:e,query:t="tab",label:n}){let[o]=B(),s=o.get(t)??e[0][0],r=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let c=l.toString();return location.pathname+(c?`?${c}`:"")};return a`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>a`<a href=${r(i)} aria-current=${i===s?"page":void 0}>${l}</a>`)}
  </nav>`}function Xo(e){let t=q(e);t.current=e,C(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let s=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);s&&o.key!=="Escape"||t.current[o.key]?.(o,s)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function j(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Jt=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be compiled, so no caller is admitted."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_CORDONED",word:"cordoned",tone:"deny",help:"No permits are granted because of a cordon."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and no permits are granted until an operator intervenes."},{value:"DEFINITION_STATE_UNMATCHED",word:"unmatched",tone:"stop",help:"No known caller matches its patterns."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work has not run."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"No permits are granted until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"A caller is waiting in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"A permit is held."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"None of the other states applies."}],Hs={value:"",word:"unknown",tone:"idle",help:""},Zo=e=>Jt.find(t=>t.value===e)??Hs,kt=e=>Jt.filter(t=>e.states?.includes(t.value)),Cn=e=>{let t=e.states?.includes("DEFINITION_STATE_CORDONED");return(e.denied??[]).filter(n=>!n.other_holder&&(!t||n.reason==="REASON_CORDONED"))};function Tt(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(Bs(e.pause)),e.missed&&t.push(Ws(e.missed));for(let n of Cn(e).slice(0,1))t.push(Rn(n,Cn(e).length-1));for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: ${n.fields.length===1?"reverts":"revert"} at ${N(n.until)}.`);return[...t,...e.warnings??[]]}function er(e){let[t,...n]=Cn(e);return t&&!e.disabled&&!e.pause&&!e.missed?`${j(t.reason,"REASON_")}: ${P(t.identity)}, ${tr(t)}${n.length?`; ${w(n.length)} more`:""}`:Tt(e)[0]}var tr=e=>e.count>1?`since ${Ie(e.first)}`:`once at ${Ie(e.last)}`,Rn=(e,t=0)=>`${P(e.identity)} is denied, ${tr(e)}: ${e.message}${t?` ${T(t,"more caller is","more callers are")} denied.`:""}`;function Bs(e){let t=e.until?`Paused until ${N(e.until)}`:"Paused until resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${Q(O(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"someone"}.`}function Ws(e){let t=j(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${j(e.reason,"REASON_")})`:""}`}var P=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function nr(e){let t=j(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${Q(O(e.drain_left))}`);let n=j(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var or=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function Qe(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var ye=[{name:"description",kind:"text",label:"Description",help:"Free-form text."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters can select by label."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that must match the whole group."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"The number of slots. A holder takes as many as its weight. 0 admits no callers."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lasts without a refresh. This limits how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A holder must stop after this time. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a holder is lost, the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What happens to the slot when a permit expires. hold: it stays taken until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"A caller may take over the permit of a holder that it considers dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work should run; if it does not, it is shown as missed. Empty: no expectation."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What happens to a firing whose permit is lost. free: it can be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"The maximum number of remembered firings."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: no limit."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: no limit."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What happens to firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How late such a firing may still run."}];function Ge(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return Me(n);case"choice":return j(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function In(e,t){return ye.map(n=>({field:n,before:Ge(n,e),after:Ge(n,t)})).filter(n=>n.before!==n.after)}var On=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(r=>`${r.acquirer} in ${r.group}`),s=t-o.length;return o.join(", ")+(s>0?` and ${w(s)} more`:"")};function rr(e=[]){let t=e.flatMap(r=>r.stopped??[]);if(t.length===0)return"No holder has to stop.";let n=t.filter(r=>r.drain_left).length,o=[];t.length>n&&o.push(`${T(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let s=`${o.join(", ")}. Every slot is free within ${Q(Math.max(...t.map(r=>O(r.free_within))))}.`;return s[0].toUpperCase()+s.slice(1)}function sr(e=[],t=[]){let n=new Map;for(let o of e)for(let s of o.warnings??[])n.set(s,[...n.get(s)??[],o.semaphore]);return[...t,...[...n].map(([o,s])=>`${Je(s)}: ${o}`)]}var Ks=e=>`${e.length===1?"change":"changes"} ${Je(e,5)}`,Pe=e=>[e.group_pattern&&`group ${e.group_pattern}`,e.acquirer_pattern&&`host ${e.acquirer_pattern}`].filter(Boolean).join(" or "),ut=e=>e.until?`until ${Ie(e.until)}`:"until further notice",zs=e=>`${Pe(e)} ${ut(e)}`;function ar(e){let t=[],n=j(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${N(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${N(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${Q(O(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`replaces the pause from change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${zs(e.cordon)}`),e.cordon_before&&t.push(`replaces the cordon from change ${e.cordon_before.change}`),e.firings?.firings?.length){let r=e.firings.firings.map(l=>Qe(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${T(r.length,"firing","firings")} ${i} (${Je(r)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undone_by&&e.undone_by!=="0"&&t.push(`undone by change ${e.undone_by}`),e.undoes&&e.undoes!=="0"&&!/^undo of change/.test(e.reason??"")&&t.push(`undoes ${Ks([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${P(e.permit.identity)}, token ${e.permit.token}`);let s=j(e.missed,"MISSED_KIND_");return s&&t.push(s),e.drain&&t.push(`drain ${Q(O(e.drain))}`),[...new Set(t)].join("; ")}var Gt=e=>e==="EVENT_KIND_REPLACED"?"edited":j(e,"EVENT_KIND_"),Vs={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},ir=e=>Vs[j(e,"EVENT_KIND_")]??"idle",lr=e=>(!e.undone_by||e.undone_by==="0")&&["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function Et(e){let t=j(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function K({caption:e,columns:t,rows:n,rowKey:o,empty:s,note:r,wide:i}){return n?.length?a`<div class=${i?"table-wrap wide":"table-wrap"}>
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
  </div>`:s??a`<${A} title="Nothing here." />`}function Re({facts:e}){return a`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>a`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function we({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return a`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function Qt({at:e,duration:t,what:n="expires unless it is refreshed"}){if(je(),!e)return a`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),s=t&&o/t<.34;return a`<span class="deadline" title=${n}>
    ${t>0&&a`<${we} share=${o/t} tone=${s?"wait":"run"} label="${lt(o)} left" />`}
    <span class="num">${lt(o)}</span>
  </span>`}function ce({at:e}){return je(),e?a`<time class="num" datetime=${e}
    title=${N(e)}>${lt(Ke()-Date.parse(e))}</time>`:"–"}function cr({parts:e,total:t,label:n}){let o=0;return a`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([s])=>s>0).map(([s,r])=>{let i=t?1e3*s/t:0,l=a`<rect class="fill-${r}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var Ye=50;function An({before:e,after:t}){if(!e&&!t)return null;if(!e)return a`<span>created</span>`;if(!t)return a`<span>deleted</span>`;let n=In(e,t);return n.length===0?a`<span class="faint">–</span>`:a`<ul class="changes">
    ${n.map(o=>a`<li>
        <span class="change-name">${o.field.label}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function Js({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:a`<section>
    <h3>Must stop</h3>
    <${K}
      caption="Holders that must stop"
      rows=${t.slice(0,Ye)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>P(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>a`<${ce} at=${n.permit.granted_at} />`,"num"],["Slot free within",n=>Q(O(n.free_within))+(n.drain_left?` (its drain had ${Q(O(n.drain_left))} left)`:""),"num"]]}
      note=${`${t.length>Ye?`And ${w(t.length-Ye)} more. `:""}A slot is freed when its holder
        releases it, or once the holder's drain and then its permit have expired.`}
    />
  </section>`}function Nn({preview:e}){let{warnings:t=[]}=e,n=(e.confirm??[]).filter(o=>o.kind!=="CONFIRMATION_KIND_STOPS_HOLDERS");return a`${n.length>0&&a`<ul class="confirm">${n.map(o=>a`<li>${rt(o.text)}</li>`)}</ul>`}
    ${t.length>0&&a`<ul class="warnings">${t.slice(0,20).map(o=>a`<li>${o}</li>`)}</ul>`}`}function ur({preview:e}){let t=e.effects??[],n=t.filter(r=>r.total_admitted||r.total_shut_out||!r.before!=!r.after||In(r.before,r.after).length),o=t.flatMap(r=>r.held??[]),s=t.filter(r=>Number(r.waiting_tasks));return a`<div class="effects">
    <p class="lead">${rr(t)}</p>
    <${Nn} preview=${{confirm:e.confirm,warnings:sr(t,e.warnings)}} />
    ${n.length>0&&a`<section>
      <h3>${T(n.length,"semaphore changes","semaphores change")}</h3>
      <${K}
        caption="Semaphores that change"
        rows=${n.slice(0,Ye)}
        rowKey=${r=>r.semaphore}
        columns=${[["Semaphore",r=>r.semaphore,"name"],["Changes",r=>a`<${An} before=${r.before} after=${r.after} />`],["Newly admitted",r=>On(r.admitted,r.total_admitted??0)||"–"],["Shut out",r=>On(r.shut_out,r.total_shut_out??0)||"–"],["Will stop",r=>w(r.stopped?.length),"num"],["Will continue",r=>w(r.unaffected),"num"]]}
        note=${n.length>Ye&&`and ${w(n.length-Ye)} more`}
      />
    </section>`}
    <${Js} effects=${t} />
    ${o.length>0&&a`<section><h3>Held for an operator</h3>
      <ul>${o.slice(0,Ye).map(r=>a`<li>${r.semaphore}: the permit of ${P(r.identity)} (token ${r.token}) expired. Its slot stays taken until
          it is cleared.</li>`)}</ul>
    </section>`}
    ${s.length>0&&a`<ul>${s.slice(0,Ye).map(r=>a`<li>${r.semaphore}: ${T(r.waiting_tasks,"task is waiting","tasks are waiting")} for a
        worker${r.tasks_run?`; after this change, ${r.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function Ae({duration:e,until:t}){return e?.trim()?{duration:Te(e)}:t?{until:new Date(t).toISOString()}:{}}var ke=e=>e?.trim()?{drain:Te(e)}:{};function Se(e){try{return e(),""}catch(t){return t.message}}function qe({value:e,set:t,emptyHelp:n="Empty: no limit.",error:o}){return a`<${R}
      label="For"
      placeholder="2h"
      value=${e.duration??""}
      onInput=${s=>t({...e,duration:s,until:""})}
      error=${Se(()=>Te(e.duration??""))||o}
      help=${`For example 30m or 2h. ${n}`}
    />
    <${R} label="Or until" type="datetime-local" value=${e.until??""}
      onInput=${s=>t({...e,until:s,duration:""})} />`}function Ne({value:e,set:t}){return a`<${R}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${Se(()=>Te(e.drain??""))}
    help="How long holders that must stop may keep running. Empty: they must stop now."
  />`}var pr=e=>e.change??e.revision??e.cordon?.revision;function Y(e){let{title:t,verb:n,kind:o,preview:s,run:r,done:i,onClose:l,onDone:c,onError:p,role:u,semaphore:g,nothing:$,deps:d,extra:m,children:f}=e,{show:h=fe=>a`<${ur} preview=${fe} />`,undoable:v=!0,journal:y=!0}=e,[D,I]=_(0),k=S(s,[t,D,d],{keep:!0}),G=k.loading||k.error,[se,ae]=_(""),[L,H]=_(!1),[z,F]=_(null),b=q(null),ne=k.data&&$?.(k.data);C(()=>{k.error&&p?.(k.error)===!0&&l()},[k.error]),C(()=>{b.current=null},[JSON.stringify(d)]);let ue=()=>{b.current=null,F(null),I(D+1)};async function ie(fe){if(fe.preventDefault(),!(L||G||ne)){H(!0),F(null),b.current??=qo();try{let me=await r({reason:se,...Ee(),...b.current},k.data),at=pr(me),vs=v&&at&&at!=="0"?{text:"Undo",run:()=>xt(at,{what:i(me).replace(/\.$/,"")})}:void 0;xe(i(me),{action:vs}),c?.(me,k.data),l()}catch(me){me.code!=="UNAVAILABLE"&&(b.current=null),H(!1);let at=p?.(me);at===!0?l():at!=="shown"&&F(me)}}}return a`<${le} title=${t} onClose=${l} wide persistent=${!!f}>
    <form onSubmit=${ie}>
      ${f}
      <${W} source=${k} what="Previewing the change">
        ${fe=>a`${m?.(fe)}${h(fe)}${fe.notes?.length>0&&a`<ul>${fe.notes.map(me=>a`<li>${me}</li>`)}</ul>`}
        ${ne&&a`<p class="lead">${ne}</p>`}`}
      <//>
      ${y&&a`<${R} label="Reason" help="Why you are doing this. Shown in Activity." value=${se}
        onInput=${ae} maxlength="1024" />`}
      ${z&&a`<${V} error=${z}
        retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(z.reason)?ue:void 0} />`}
      <p class="row end sticky-end">
        <button type="button" onClick=${l}>Cancel</button>
        <${M} role=${u} semaphore=${g} type="submit" kind=${o??"primary"}
          why=${G?"The preview is not ready yet.":ne}>
          ${L?"Working …":typeof n=="function"?n(k.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var Ln=re(null);function xt(e,{what:t="",where:n,onDone:o}={}){Ln.set({change:String(e),what:t,where:n,onDone:o})}var Yt=No("ran");function Mn(e,t,n,o){let s=pr(t);if(!s||s==="0")return;let r=t.effects?.length?t.effects:n?.effects??[];Yt.set({text:e,change:s,where:o,at:Date.now(),stopped:r.flatMap(i=>i.stopped??[])})}function dr(){let e=U(Ln);return e&&a`<${Gs} key=${e.change} u=${e} />`}function Gs({u:e}){let[t,n]=_({drain:""}),o=Se(()=>ke(t.drain)),s=()=>({change:e.change,...o?{}:ke(t.drain)});return a`<${Y}
    title=${e.what?`Undo change ${e.change}: ${e.what}`:`Undo change ${e.change}`}
    verb=${`Undo change ${e.change}`}
    deps=${t}
    preview=${r=>E("/v1/undo",{...s(),dry_run:!0,...Ee()},r)}
    extra=${r=>(r.effects??[]).some(i=>i.stopped?.length)&&a`<${Ne} value=${t} set=${n} />`}
    nothing=${r=>o?"Correct the drain first.":r.undone_by&&r.undone_by!=="0"?`Already undone by change ${r.undone_by}.`:r.nothing?"There is nothing left to undo.":""}
    run=${(r,i)=>E("/v1/undo",{...s(),plan:i.plan,...r})}
    done=${()=>`Change ${e.change} undone.`}
    onDone=${(r,i)=>{let l=(i.effects??[]).some(c=>c.stopped?.length);(e.where||l)&&Mn(`Undid change ${e.change}${e.what&&`: ${e.what}`}`,r,i,e.where),l&&location.pathname!=="/move"&&xe("Holders must stop.",{action:{text:"Follow",run:()=>pe("/move")}}),e.onDone?.()}}
    onClose=${()=>Ln.set(null)}
  />`}var Qs=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],jn=Ft("theme","auto");jn.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function Ys(){let e=U(jn),t={auto:"light",light:"dark",dark:"auto"}[e];return a`<button type="button" class="plain" onClick=${()=>jn.set(t)}
    title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" />
      <path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var Xs=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down also work"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","This help"]],Zs=[["Semaphore","A named rule: which groups and hosts may run a task, and how many at once."],["Permit","What a caller holds while it runs. It expires unless the holder refreshes it."],["Group","Where a caller runs, for example a zone. Moving work changes the group that a rule admits."],["Acquirer","The caller’s name, normally its host."],["Drain","How long a holder that must stop may continue."],["Cordon","Shuts a group or a host out of every semaphore."],["Firing","One run of a schedule, such as last night’s. It is claimed only once in the whole cluster."],["Job","A list of tasks that workers share."]];function ea({onClose:e}){return a`<${le} title="Help" onClose=${e}>
    <h3>Terms</h3>
    <dl class="keys">${Zs.map(([t,n])=>a`<div><dt>${t}</dt><dd>${n}</dd></div>`)}</dl>
    <h3>Keys</h3>
    <dl class="keys">${Xs.map(([t,n])=>a`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function ta(){let e=U(_e),t=U(zt),[n,o]=_(!1);if(!e)return null;let s=e.authenticated?e.principal||e.credential:t||"dashboard";return a`<button type="button" class="plain who" onClick=${()=>o(!0)}>
    <span class="sr-only">You are </span>${s}</button>
    ${n&&a`<${le} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?a`<p>You are authenticated as <strong>${e.principal}</strong>,
          with ${e.credential}. <a href="/access">Your permissions</a></p>
            <p class="row end"><button type="button"
              onClick=${()=>Bo().catch(()=>{}).then(()=>pe("/login"))}>Log out</button></p>`:a`<p>These servers do not authenticate callers, so anyone may do anything.</p>
            <${R} label="Your name" help="Shown in the journal as the author of your changes. It is not verified."
              value=${t} onInput=${r=>zt.set(r)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function na(){let e=S(o=>x("/v1/status",{},o),["status"],{every:1e4,keep:!0}),t=U(Ce).online,n=e.data;return t?n?a`<a class="leader" href="/cluster">
    ${n.leader_id?a`<span class="status-dot tone-run" aria-hidden="true"></span><span><span class="long">leader: </span>${n.leader_id}</span>`:a`<span class="status-dot tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:a`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`:a`<a class="leader" href="/cluster">
    <span class="status-dot tone-deny" aria-hidden="true"></span>no response</a>`}var oa={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function Xt({children:e,bare:t}){let n=U(ot).split("?")[0],[o,s]=_(!1),r=q(null),i=q(!0),l=q(0);return C(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),r.current?.querySelector("h1")?.focus()},[n]),Xo({"?":()=>s(!0),"/":c=>{let p=document.querySelector("[data-search]");p&&(c.preventDefault(),p.focus(),p.select())},Escape:(c,p)=>{p?c.target.blur():n!=="/"&&Mo()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(oa).map(([c,p])=>[c,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${p}"]`)?.click()]))}),a`<a class="skip" href="#main">Skip to content</a>
    ${!t&&a`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" /><span>Gatekeeper</span></a>
      <nav class="nav" aria-label="Views">
        ${Qs.map(([c,p])=>{let u=c==="/"?n==="/"||n.startsWith("/s/"):n===c||n.startsWith(`${c}/`);return a`<a href=${c} aria-current=${u?"page":void 0}>${p}</a>`})}
      </nav>
      <div class="tools">
        <${na} />
        <${ta} />
        <${Ys} />
        <button type="button" class="plain" onClick=${()=>s(!0)} title="Help">
        <span aria-hidden="true">?</span><span class="sr-only">Help</span></button>
      </div>
    </header>`}
    <${Go} />
    <main id="main" tabindex="-1" ref=${r}>${e}</main>
    <${Qo} />
    <${dr} />
    ${o&&a`<${ea} onClose=${()=>s(!1)} />`}`}function Z({children:e,aside:t}){return a`<div class="title">
    <h1 tabindex="-1">${e}</h1>${t&&a`<div class="row">${t}</div>`}</div>`}var Fn=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, hold and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo such changes"],["editor","viewer","create, replace and delete definitions; undo such changes"],["admin","all","everything, including members, settings, bindings and tokens; it cannot be scoped"]],Zt=Fn.map(([e])=>[`ROLE_${e.toUpperCase()}`,e]);var mr=e=>e.split(`
`).map(t=>t.trim()).filter(Boolean),$r=e=>({role:e.role,semaphores:(e.semaphores??[]).join(`
`),labels:e.labels??"",group:e.group??"",acquirer:e.acquirer??""}),Pn=e=>({name:e?.name??"",subjects:(e?.subjects??[]).join(`
`),grants:(e?.grants??[{role:"ROLE_VIEWER"}]).map($r)}),fr=e=>({name:e.name.trim(),subjects:mr(e.subjects),grants:e.grants.map(t=>({role:t.role,semaphores:mr(t.semaphores),labels:t.labels.trim(),group:t.group,acquirer:t.acquirer}))}),qn=e=>[...(e?.subjects??[]).map(t=>`subject ${t}`),...(e?.grants??[]).map(t=>`grant ${Et(t)}`)];function ra({before:e,after:t}){let[n,o]=[qn(e),qn(t)],s=o.filter(i=>!n.includes(i)),r=n.filter(i=>!o.includes(i));return s.length+r.length===0?null:a`<ul class="changes">
    ${s.map(i=>a`<li><span class="sr-only">adds </span><ins>${i}</ins></li>`)}
    ${r.map(i=>a`<li><span class="sr-only">removes </span><del>${i}</del></li>`)}
  </ul>
  ${r.length>0&&a`<p>Callers will lose the removed access immediately.</p>`}`}function sa({number:e,value:t,set:n,remove:o,error:s}){let r=i=>l=>n({...t,[i]:l});return a`<fieldset class="grant">
    <legend>Grant ${e}</legend>
    <div class="form">
      <${be} label="Role" value=${t.role} options=${Zt} onChange=${r("role")}
        error=${s("role")} />
      <${R} label="Semaphores" area=${2} value=${t.semaphores} onInput=${r("semaphores")}
        error=${s("semaphores")} help="Names or globs, one per line. Empty: all." />
      <${R} label="Labels" value=${t.labels} onInput=${r("labels")} error=${s("labels")}
        help="A selector, such as team=data. Empty: any." />
      <${R} label="Group" value=${t.group} onInput=${r("group")} error=${s("group")}
        help="A pattern for the groups that callers may act as. Empty: any." />
      <${R} label="Acquirer" value=${t.acquirer} onInput=${r("acquirer")} error=${s("acquirer")}
        help="The same for acquirers." />
    </div>
    <p class="row end"><button type="button" onClick=${o}>Remove grant ${e}</button></p>
  </fieldset>`}function aa(){let[e,t]=_([]),n=o=>s=>s.field===o||s.field.startsWith(`${o}[`);return{error:o=>e.find(n(o))?.rule,clear:()=>t([]),take(o,s){return t(o.fields),o.fields.length>0&&o.fields.every(r=>s.some(i=>n(i)(r)))}}}function hr({binding:e,onClose:t,onDone:n}){let[o,s]=_(e),[r,i]=_(()=>Pn(e)),[l,c]=_(null),p=aa(),u=fr(r),g=$e(()=>JSON.stringify(fr(Pn(o))),[o]),$=v=>{p.clear(),i({...r,...v})},d=v=>y=>$({grants:r.grants.map((D,I)=>I===v?y:D)}),m=["binding.name","binding.subjects"];r.grants.forEach((v,y)=>m.push(...Object.keys(v).map(D=>`binding.grants[${y}].${D}`)));let f=v=>{if(v.reason!=="STALE_VERSION")return p.take(v,m)&&"shown";x("/v1/bindings").then(y=>c(y.bindings.find(D=>D.name===u.name)),()=>{})},h=v=>{s(l),v||i(Pn(l)),c(null)};return a`<${Y}
    title=${e?`Edit binding ${e.name}`:"Create a binding"}
    verb=${o?"Save":"Create"}
    role="ROLE_ADMIN"
    deps=${[u,o?.revision]}
    preview=${async()=>({})}
    show=${()=>a`<${ra} before=${o} after=${u} />`}
    nothing=${()=>l?"First choose which values to keep.":u.name?o&&g===JSON.stringify(u)?"Nothing has changed.":"":"Enter a name first."}
    run=${({reason:v})=>bt(X`/v1/bindings/${u.name}`,{binding:u,expected_revision:o?.revision,reason:v})}
    done=${()=>`Binding ${u.name} ${o?"saved":"created"}.`}
    onError=${f}
    onClose=${t}
    onDone=${n}
  >
    ${l&&a`<div class="note" role="alert">
      <p>${l.updated_by||"Another user"} saved this binding at ${N(l.updated_at)},
      while you were editing it. It is now:</p>
      <ul>${qn(l).map(v=>a`<li>${v}</li>`)}</ul>
      <p class="row">
        <button type="button" onClick=${()=>h(!0)}>Keep my values</button>
        <button type="button" onClick=${()=>h(!1)}>Use these values</button>
      </p>
    </div>`}
    <div class="form">
      ${!e&&a`<${R} label="Name" value=${r.name} onInput=${v=>$({name:v})}
        error=${p.error("binding.name")}
        help="The principal: the author of changes and the owner of permits." autofocus />`}
      <${R} label="Subjects" area=${3} value=${r.subjects} onInput=${v=>$({subjects:v})}
        error=${p.error("binding.subjects")}
        help="One per line: cert:NAME, spiffe://DOMAIN/PATH or oidc:CLAIM=VALUE. Empty: bearer tokens only." />
    </div>
    ${r.grants.map((v,y)=>a`<${sa} key=${y} number=${y+1} value=${v} set=${d(y)}
        remove=${()=>$({grants:r.grants.filter((D,I)=>I!==y)})}
        error=${D=>p.error(`binding.grants[${y}].${D}`)} />`)}
    <p><button type="button" onClick=${()=>$({grants:[...r.grants,$r({role:"ROLE_VIEWER"})]})}>Add a grant</button></p>
  <//>`}function gr({binding:e,onClose:t,onDone:n}){let o=e.subjects??[],s=e.tokens??[];return a`<${Y}
    title=${`Remove binding ${e.name}`}
    verb="Remove"
    kind="danger"
    role="ROLE_ADMIN"
    undoable=${!1}
    preview=${async()=>({})}
    show=${()=>a`
      ${o.length+s.length===0&&a`<p>The binding has no subjects and no tokens, so nobody loses access.</p>`}
      ${o.length>0&&a`<p>These subjects will lose all access:</p>
        <ul>${o.map(r=>a`<li><code>${r}</code></li>`)}</ul>`}
      ${s.length>0&&a`<p>These tokens will stop working:</p>
        <ul>
          ${s.map(r=>a`<li><code>${r.id}</code>${r.created_by&&`, created by ${r.created_by}`}</li>`)}
        </ul>`}
      <p>Streams of ${e.name} end within a second. Its permits last until they expire.</p>`}
    run=${({reason:r})=>Uo(X`/v1/bindings/${e.name}`,{expected_revision:e.revision,reason:r})}
    done=${()=>`Binding ${e.name} removed.`}
    onError=${r=>{r.reason==="STALE_VERSION"&&n()}}
    onClose=${t}
    onDone=${n}
  />`}var ia={message:"The token may or may not have been created. If the list shows a new one, revoke it."};function _r(e){let{duration:t,until:n}=Ae(e);return t?{expires_at:new Date(Ke()+O(t)).toISOString()}:n?{expires_at:n}:{}}function la({created:e,binding:t,onClose:n}){let o=q(null),[s,r]=_("");C(()=>o.current.querySelector("input").select(),[]);let i=async()=>{o.current.querySelector("input").select();try{await navigator.clipboard.writeText(e.secret),r("Copied.")}catch{r("The browser does not allow copying: press Ctrl-C to copy the selected text.")}},l=e.token.expires_at?`until ${N(e.token.expires_at)}`:"until it is revoked";return a`<div class="stack" ref=${o}>
    <p class="note" role="alert">Copy the token now. It is shown only once: the servers keep only its hash.</p>
    <${R} label="Token" value=${e.secret} onInput=${()=>{}} readonly />
    <p>A caller that presents it acts as ${t}, ${l}. Its id is <code>${e.token.id}</code>.</p>
    <p class="row end">
      <span class="grow" role="status">${s}</span>
      <button type="button" onClick=${i}>Copy</button>
      <button type="button" class="primary" onClick=${n}>Done</button>
    </p>
  </div>`}function vr({binding:e,onClose:t,onDone:n}){let[o,s]=_({duration:"30d",until:""}),[r,i]=_(""),[l,c]=_(null),[p,u]=_(null),[g,$]=_(!1),d=Se(()=>_r(o)),m=async h=>{if(h.preventDefault(),!(g||d)){$(!0),u(null);try{c(await E("/v1/tokens",{binding:e,reason:r,..._r(o)})),n()}catch(v){u(v.offline?ia:v),v.offline&&n()}$(!1)}},f=p?.fields?.find(h=>h.field==="expires_at")?.rule;return a`<${le} title=${`${l?"Token":"Create a token"} for ${e}`} onClose=${t} persistent>
    ${l?a`<${la} created=${l} binding=${e} onClose=${t} />`:a`<form onSubmit=${m}>
          <p>A caller that presents the token may do everything that the binding grants.</p>
          <div class="form">
            <${qe} value=${o} set=${h=>(s(h),u(null))}
              emptyHelp="Empty: until it is revoked." error=${f} />
          </div>
          <${R} label="Reason" help="Why you are doing this. Shown in Activity." value=${r}
            onInput=${i} maxlength="1024" />
          ${p&&!f&&a`<${V} error=${p} />`}
          <p class="row end">
            <button type="button" onClick=${t}>Cancel</button>
            <${M} role="ROLE_ADMIN" type="submit" kind="primary"
              why=${d}>${g?"Working …":"Create"}<//>
          </p>
        </form>`}
  <//>`}function br({binding:e,token:t,onClose:n,onDone:o}){return a`<${Y}
    title=${`Revoke token ${t.id}`}
    verb="Revoke"
    kind="danger"
    role="ROLE_ADMIN"
    undoable=${!1}
    preview=${async()=>({})}
    show=${()=>a`<p>Callers that present this token of ${e} are refused immediately, and their streams
      end within a second. Permits last until they expire.</p>`}
    run=${({reason:s})=>E(X`/v1/tokens/${t.id}:revoke`,{reason:s})}
    done=${()=>`Token ${t.id} revoked.`}
    onClose=${n}
    onDone=${o}
  />`}function ca(){let[e,t]=_({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=_(null),[s,r]=_(null);return a`<section class="panel stack">
    <h2>Can I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),E("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(c=>(o(c),r(null)),r)}}>
      <${be} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${Zt} />
      <${R} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})}
        help="Empty: anywhere." />
      <p class="row full"><button class="primary">Check</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?a`<p class="lead tone-run">Yes.</p>`:a`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${s&&a`<${V} error=${s} />`}
  </section>`}var Un=200;function ua({session:e}){let t=S($=>x("/v1/bindings",{},$),["bindings"],{keep:!0}),[n,o]=_(null),[s,r]=_("");if(t.error?.code==="PERMISSION_DENIED")return a`<${A} title="Only administrators can see who may do what." />`;let i=e?.authenticates===!1?"These servers do not authenticate callers, so bindings have no effect.":"",l=($,d,...m)=>a`<${M} role="ROLE_ADMIN" why=${i} kind=${d} onClick=${()=>o(m)}>${$}<//>`,c={onClose:()=>o(null),onDone:t.refresh},[p,u,g]=n??[];return a`<div class="title"><h2>Who may do what</h2>${l("Create a binding …","primary","edit")}</div>
    <${W} source=${t} what="Loading the bindings">
      ${({bindings:$=[]})=>{let d=$.filter(m=>s.toLowerCase().split(/\s+/).every(f=>JSON.stringify(m).toLowerCase().includes(f)));return a`${($.length>10||s)&&a`<${R} label="Find" value=${s} onInput=${r}
            help="Words in names, subjects, grants or tokens." />`}
        <${K}
          caption="Bindings"
          rows=${d.slice(0,Un)}
          rowKey=${m=>m.name}
          empty=${a`<${A} title=${s?"No bindings match.":"There are no bindings."} />`}
          note=${d.length>Un&&`and ${w(d.length-Un)} more: narrow them down with Find`}
          columns=${[["Name",m=>m.name,"name"],["Subjects",m=>a`<ul class="changes">${(m.subjects??[]).map(f=>a`<li>${f}</li>`)}</ul>`,"name"],["Grants",m=>a`<ul class="changes">
              ${(m.grants??[]).map(f=>a`<li>${Et(f)}</li>`)}
            </ul>`],["Tokens",m=>a`<ul class="changes">
              ${(m.tokens??[]).map(f=>a`<li class="row">
                <span><code>${f.id}</code>${f.expires_at&&` until ${N(f.expires_at)}`}</span>${l("Revoke …","","revoke",m,f)}
              </li>`)}
            </ul>`],["Changed",m=>`${N(m.updated_at)}${m.updated_by?` by ${m.updated_by}`:""}`],["",m=>a`<span class="row end">
              ${l("Edit …","","edit",m)}${l("Create a token …","","token",m)}${l("Remove …","danger","remove",m)}
            </span>`,"end"]]}
        />`}}
    <//>
    ${p==="edit"&&a`<${hr} binding=${u} ...${c} />`}
    ${p==="remove"&&a`<${gr} binding=${u} ...${c} />`}
    ${p==="token"&&a`<${vr} binding=${u.name} ...${c} />`}
    ${p==="revoke"&&a`<${br} binding=${u.name} token=${g} ...${c} />`}`}function yr(){oe("Access");let e=U(_e);return a`<${Z}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?a`<${Re} facts=${[["Principal",e.principal],["Credential",e.credential],["Roles",(e.grants??[]).map(Et).join("; ")||"none"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:a`<p>These servers do not authenticate callers, so anyone may do anything.</p>`:a`<${ve} what="Checking who you are" />`}
      </section>
      <div class="panels">
        <${ca} />
        <section class="panel"><h2>Roles</h2>
          <${K} caption="Roles" rows=${Fn}
            columns=${[["Role",t=>t[0],"num"],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><${ua} session=${e} /></section>
    </div>`}var pa=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],da=e=>pa.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function St({entries:e,semaphore:t,onChange:n}){let o="";return a`<ol class="entries">
    ${e.map(s=>{let r=s.revision!==o,i=r?e.filter(c=>c.revision===s.revision).length:0,l=i>1?`${Gt(s.kind)} ${i} semaphores`:[Gt(s.kind),s.semaphore].filter(Boolean).join(" ");return o=s.revision,a`<li key=${`${s.revision}.${s.ordinal??0}`} class=${r?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${s.at} title=${N(s.at)}>${Ie(s.at)}</time>
          <span class="tag tone-${ir(s.kind)}">${Gt(s.kind)}</span>
          ${!t&&s.semaphore&&a`<a class="mono" href=${`/s/${encodeURIComponent(s.semaphore)}`}>${s.semaphore}</a>`}
          <span class="grow">${ar(s)}</span>
          <span class="faint"><a href=${`/activity?change=${s.revision}`}>change ${s.revision}</a>${s.author&&` by ${s.author}`}</span>
          ${r&&lr(s)&&a`<${M} role=${da(s.kind)} semaphore=${s.semaphore??""}
              onClick=${()=>xt(s.revision,{what:l,onDone:n})}>Undo …<//>`}
        </div>
        ${s.reason&&a`<p class="entry-reason">${s.reason}</p>`}
        ${s.before&&s.after&&a`<${An} before=${s.before} after=${s.after} />`}
      </li>`})}
  </ol>`}function wr(){oe("Activity");let[e,t]=B(),n=e.get("change")??"";return a`<${Z} aside=${n&&a`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?a`<${$a} change=${n} />`:a`<${fa} params=${e} change=${t} />`}`}var ma=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function fa({params:e,change:t}){let[n,o]=De(e.get("q")??"",h=>t({q:h}),300),[s,r]=De(e.get("labels")??"",h=>t({labels:h}),400),i=e.get("permits")==="1",l=e.get("by")??"",[c,p]=De(l,h=>t({by:h}),300),[u,g]=_(50),$={names:ma(e.get("q")??""),labels:e.get("labels")??"",permits:i},d=S(h=>x("/v1/history",{...$,page_size:u},h),["journal",$,u],{every:15e3,keep:!0}),m=Fe(d.refresh,i?500:60);Oe("/v1/watch",$,{message:({events:h=[]})=>h.length&&m(),missed:m,open:h=>h&&m()});let f=(d.data?.entries??[]).filter(h=>!l||(h.author??"").toLowerCase().includes(l.toLowerCase()));return a`<form class="filters" role="search" onSubmit=${h=>h.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd class="hover-only" aria-hidden="true">/</kbd></label>
      <input id="activity-q" data-search value=${n} onInput=${h=>o(h.target.value)}
        placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label>
      <input id="activity-by" value=${c} onInput=${h=>p(h.target.value)} spellcheck=${!1}
        autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label>
      <input id="activity-labels" value=${s} onInput=${h=>r(h.target.value)} spellcheck=${!1}
        autocomplete="off" /></div>
      <${de} label="Show ended permits" checked=${i}
        onChange=${h=>t({permits:h?"1":""})} />
    </form>
    <section class="panel">
      <${W} source=${d} what="Loading the journal">
        ${h=>a`
          ${f.length?a`<${St} entries=${f} onChange=${d.refresh} />`:a`<${A} title="No changes match.">Edits, pauses, cordons and undos appear
              here as they happen.<//>`}
          ${h.next_page_token&&u<1e3&&a`<p class="row"><button type="button"
              onClick=${()=>g(Math.min(1e3,u*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function $a({change:e}){let t=S(n=>x("/v1/history",{change:e,page_size:1e3},n),["change",e]);return a`<section class="panel">
    <${W} source=${t} what="Loading the journal">
      ${({entries:n=[],missing:o,next_page_token:s})=>a`
        ${o&&a`<p class="note">The journal no longer has all entries of this
          change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?a`<${St} entries=${n} onChange=${t.refresh} />`:a`<${A} title=${`There is no change ${e} in the journal.`} />`}
        ${s&&a`<p class="faint">Only the first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&a`<p><a href=${`/activity?change=${n[0].undoes}`}>Show the change that it undoes</a></p>`}`}
    <//>
  </section>`}var en="M4 14V2",kr={idle:[en,"M4 4l8-2"],running:[en,"M4 3l9 4v-3l-9-2z"],waiting:[en,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[en,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],unmatched:["M8 2a6 6 0 1 0 .1 0z","M6.2 6.3a1.8 1.8 0 1 1 2.4 1.7l-.6.4v1","M8 11.4v.4"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function Dt({word:e}){let t=kr[e]??kr.idle;return a`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>a`<path d=${n} />`)}
  </svg>`}function Ct({value:e,text:t}){let n=Zo(e);return a`<span class="state tone-${n.tone}"><${Dt} word=${n.word} /><span>${t??n.word}</span></span>`}function Tr({record:e}){let t=kt(e)[0],n=t?.word==="paused"&&e.pause?.until;return a`<${Ct} value=${t?.value} />${n&&a`<span class="sub">until ${Ie(n)}</span>`}`}function tn({tone:e="idle",children:t}){return a`<span class="tag tone-${e}">${t}</span>`}var ha=864e5,xr=1e3,Sr=e=>e?.role==="SERVER_ROLE_LEADER",Dr=e=>e.map(t=>t.status).filter(Sr).sort((t,n)=>Number(n.term)-Number(t.term))[0],Cr=e=>e.port==="CERTIFICATE_PORT_API"?"API":j(e.port,"CERTIFICATE_PORT_"),nn=e=>O(e)<0?`${ge(-O(e))} behind`:`${ge(O(e))} ahead`;function Rr(e){if(e.error)return["deny",e.error];let t=Date.parse(e.not_after)-Ke();if(t<=0)return["deny","has expired"];let n=Math.floor(t/ha);return[n<7?"deny":n<30?"wait":"",n<1?`expires in ${Q(t)}`:`expires in ${T(n,"day","days")}`]}function ga(e,t){if(!e.status)return[["deny",`not responding: ${e.error}`]];let n=(e.status.certificates??[]).map(o=>[o,...Rr(o)]).filter(([,o])=>o);return[Number(e.lag??0)>=xr&&["wait","lagging"],...n.map(([o,s,r])=>[s,`${Cr(o)} certificate ${o.error?"cannot be used":r}`]),t&&["stop",`clock is ${nn(t.ahead)}`],e.status.insecure&&["stop","started with --insecure"]].filter(Boolean)}var _a={run:"running",wait:"waiting",stop:"missed",deny:"denied"};function va({problems:e}){return(e.length?e:[["run","healthy"]]).map(([t,n])=>a`<div class="state tone-${t}"><${Dt} word=${_a[t]} /><span>${n}</span></div>`)}function ba(e){return e.status?Sr(e.status)?a`<strong class="tone-run">leader</strong>`:e.voter?j(e.status.role,"SERVER_ROLE_")||"stopping":"non-voter":e.voter?"voter":"non-voter"}var Er=e=>ge(+(parseFloat(e??"0")*1e3).toFixed(2));function Ir(e,t){let n=s=>r=>r.status?s(r.status,r):a`<span class="faint">–</span>`,o=s=>t?.find(r=>r.id===s.id);return[["Server",s=>a`${s.id}${s.id===e&&a`<span class="faint"> (serves this page)</span>`}
      <span class="second-line">${s.api_address||"API address unknown"}<br />${s.peer_address} (peers)</span>`,"name"],["State",s=>a`<${va} problems=${ga(s,o(s))} />`],["Role",ba,"nowrap"],["Term",n(s=>s.term),"num"],["Entries behind",n((s,r)=>r.lag===void 0?"unknown":a`<span class=${Number(r.lag)>=xr?"tone-wait":""}>${w(r.lag)}</span>`),"num"],["Log writes",n(s=>s.log_writes?a`${Er(s.log_writes.median)}
        <span class="second-line">longest ${Er(s.log_writes.longest)}</span>`:"none yet"),"num"],["Snapshot",n(({last_snapshot:s})=>s?a`${s.taken_at?a`<${ce} at=${s.taken_at} /> ago`:`index ${s.index}`}
        <span class="second-line">${he(s.bytes)}</span>`:"none yet"),"num"],["Version",n(s=>a`${s.version||"–"}<span class="second-line">level ${s.feature_level}</span>`),"nowrap"],["Uptime",n(s=>s.uptime&&Q(O(s.uptime))),"num"],["Clock",n((s,r)=>t?o(r)?a`<span class="tone-stop">${nn(o(r).ahead)}</span>`:"in sync":"unknown"),"num"]]}function Or({members:e}){let t=e.flatMap(o=>(o.status?.certificates??[]).map(s=>({...s,server:o.id}))),n=e.filter(o=>!o.status).map(o=>o.id);return a`<section class="panel">
    <h2>Certificates</h2>
    <${K}
      caption="Server certificates"
      rows=${t}
      rowKey=${o=>`${o.server} ${o.port}`}
      empty=${a`<${A} title="No responding server uses TLS." />`}
      columns=${[["Server",o=>o.server,"name"],["Port",Cr],["Subject",o=>o.subject||"–","name"],["Expires",o=>{let[s,r]=Rr(o);return a`<span class=${s&&`tone-${s}`}>${o.error?r:a`${N(o.not_after)}, ${r}`}</span>`}]]}
      note=${n.length>0&&`No data from ${n.join(", ")}: not responding.`}
    />
  </section>`}var Hn=re(null),Ar=(e,t)=>Hn.set({member:e,onDone:t});function ya({preview:e}){let t=(e.members??[]).filter(r=>r.voter).map(r=>r.id),n=Math.floor(t.length/2)+1,o=t.length-n,s=e.silent??[];return a`
    <p class="lead">${T(t.length,"voter remains","voters remain")}: ${t.join(", ")}.</p>
    <p>The cluster needs ${n} of ${t.length===1?"it":"them"}:
      ${o?` it keeps working while ${T(o,"voter is","voters are")} down.`:" it stops working if one is down."}</p>
    ${s.length>0&&a`<p class="note">${s.join(", ")} ${s.length===1?"is":"are"} not
      responding.</p>`}`}function Nr(){let e=U(Hn);if(!e)return null;let t=e.member.id;return a`<${Y}
    key=${t}
    title=${`Remove ${t}`}
    verb=${`Remove ${t}`}
    kind="danger"
    role="ROLE_ADMIN"
    journal=${!1}
    preview=${n=>E("/v1/members:remove",{id:t,dry_run:!0},n)}
    show=${n=>a`<p>${t} will be removed permanently: it will stop, and its id can never be used again. A new server
      needs a new id and an empty data directory.${e.member.leader&&" It is the leader, so another server will take over."}</p><${ya} preview=${n} />`}
    nothing=${n=>n.already_removed?`${t} has already been removed.`:n.refusal??""}
    run=${()=>E("/v1/members:remove",{id:t})}
    done=${n=>`${t} removed. ${T(n.members?.length??0,"member remains","members remain")}.`}
    onDone=${e.onDone}
    onClose=${()=>Hn.set(null)}
  />`}var wa={max_duration:"The longest duration that a definition may have. Raising it permanently lengthens the time after a recovery during which no permits are granted.",journal_per_semaphore:"The number of edits that the journal keeps for each semaphore. The same limit applies to ended permits.",journal_total:"The same, for all semaphores together.",journal_lifetime:"How long the journal keeps an entry.",remembered_deletions:"The number of deleted definitions whose versions are remembered.",request_lifetime:"The minimum time for which a request is remembered, as long as there is room.",requests_kept:"The number of requests for each semaphore that are remembered beyond request_lifetime.",request_bytes:"The maximum number of bytes for remembered requests.",edit_bytes:"The maximum number of bytes for remembered edit requests.",max_task_bytes:"The maximum size of a task’s payload, and of its result, in bytes.",max_job_bytes:"The maximum total size of a job’s payloads, in bytes.",max_semaphore_work_bytes:"The maximum number of bytes that a semaphore’s jobs store and reserve.",max_work_bytes:"The same, for all semaphores together."},rn=e=>typeof e=="string"&&e.endsWith("s"),on=(e,t)=>rn(t)?ge(O(t)):e.includes("bytes")?he(t):w(t),Lr=e=>rn(e)?Me(e):String(e);function ka(e,t){if(e.trim()==="")throw new Error("Enter a value.");if(rn(t))return Te(e);if(!/^\d+$/.test(e.trim()))throw new Error(`“${e}” is not a whole number.`);return e.trim()}function Ta(e,t){let n={},o={};for(let[s,r]of Object.entries(t))if(e[s]!==Lr(r))try{n[s]=ka(e[s],r)}catch(i){o[s]=i.message}return{changed:n,errors:o}}var Bn=({before:e={},after:t={}})=>Object.keys(t).filter(n=>e[n]!==t[n]);function Ea({settings:e,onClose:t,onDone:n}){let[o,s]=_(()=>Object.fromEntries(Object.entries(e).map(([f,h])=>[f,Lr(h)]))),[r,i]=_({}),[l,c]=_(!1),{changed:p,errors:u}=Ta(o,e),g=Object.keys(p).length?"":"Nothing has changed.",$=Object.keys(u).length?"Correct the marked fields first.":g,d=f=>h=>{s({...o,[f]:h}),i({...r,[f]:void 0})},m=f=>{let h=f.fields.filter(v=>v.field.startsWith("settings.")).map(v=>[v.field.slice(9),v.rule]);return i(Object.fromEntries(h)),h.length>0};return a`<form onSubmit=${f=>(f.preventDefault(),$||c(!0))}>
      <div class="form">
        ${Object.entries(e).map(([f,h])=>a`<${R} key=${f} label=${f} value=${o[f]} onInput=${d(f)}
            class=${f in p||u[f]?"changed":""} inputmode=${rn(h)?void 0:"numeric"}
            help=${`${wa[f]??""} Currently ${on(f,h)}.`} error=${u[f]??r[f]} />`)}
      </div>
      <p class="row end sticky-end">
        <button type="button" onClick=${t}>${$&&$===g?"Back":"Discard"}</button>
        <${M} role="ROLE_ADMIN" type="submit" kind="primary" why=${$}>Review and save …<//>
      </p>
    </form>
    ${l&&a`<${Y}
      title="Change the settings"
      verb="Save"
      role="ROLE_ADMIN"
      undoable=${!1}
      preview=${f=>bt("/v1/settings",{settings:p,dry_run:!0},f)}
      show=${f=>a`<${K}
          caption="Settings that change"
          rows=${Bn(f)}
          columns=${[["Setting",h=>h,"name"],["Before",h=>a`<del>${on(h,f.before[h])}</del>`],["After",h=>a`<ins>${on(h,f.after[h])}</ins>`]]}
        />
        <${Nn} preview=${f} />
        <p class="faint">Settings cannot be restored with Undo; set the old values again instead.</p>`}
      nothing=${f=>Bn(f).length?"":"The settings already have these values."}
      run=${({reason:f,author:h},v)=>bt("/v1/settings",{settings:p,expected:v.before,reason:f,author:h})}
      done=${f=>`${T(Bn(f).length,"setting","settings")} changed (change ${f.revision}).`}
      onError=${m}
      onClose=${()=>c(!1)}
      onDone=${n}
    />`}`}function Mr(){let[e,t]=B(),n=S(r=>x("/v1/settings",{stale:!0},r),["settings"]),o=e.get("edit")==="settings",s=()=>t({edit:""});return a`<section class="panel">
    <div class="title"><h2>Settings</h2>
      ${!o&&a`<${M} role="ROLE_ADMIN" onClick=${()=>t({edit:"settings"},{replace:!1})}>Edit<//>`}
    </div>
    <${W} source=${n} what="Loading the settings">
      ${({settings:r={}})=>o?a`<${Ea} settings=${r} onClose=${s} onDone=${()=>(n.refresh(),s())} />`:a`<${Re} facts=${Object.entries(r).map(([i,l])=>[i,on(i,l)])} />`}
    <//>
  </section>`}var Wn=re(0),st=()=>Wn.set(Wn.get()+1);function Xe(){let e=U(Wn),t=S(i=>x("/v1/cordons",{},i),["cordons",e],{every:1e4,keep:!0}),[n,o]=_(null),s=t.data?.cordons??[],r=n&&a`<${Y}
    title=${`Remove the cordon on ${Pe(n)}`}
    verb="Remove"
    role="ROLE_OPERATOR"
    preview=${async()=>({})}
    show=${()=>a`<p class="lead">${Ve(Pe(n))} will get permits again wherever a rule admits it.</p>`}
    run=${i=>E("/v1/uncordon",{id:n.id,...i})}
    done=${()=>`${Ve(Pe(n))} is no longer cordoned.`}
    onDone=${st}
    onClose=${()=>o(null)}
  />`;return s.length===0?r:a`<section class="cordons" aria-label="Cordons in force">
    <ul>
      ${s.map(i=>a`<li key=${i.id}>
          <span class="state tone-deny"><${Dt} word="cordoned" />cordoned</span>
          <span class="grow">${Ve(Pe(i))} is cordoned ${ut(i)}${i.reason&&`: ${i.reason}`}${i.author&&a`<span class="faint"> (by ${i.author})</span>`}</span>
          <${M} role="ROLE_OPERATOR" onClick=${()=>o(i)}>Remove …<//>
        </li>`)}
    </ul>
    ${r}
  </section>`}function xa({member:e,onClose:t,onDone:n}){let[o,s]=_(null);return a`<${le} title="Transfer leadership" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),E("/v1/leadership:transfer",{id:e.id}).then(l=>{xe(`${l.leader_id} is the leader.`),n(),t()},s)}}>
      <p>${e.id} will become the leader. Permits are not affected; calls will be briefly delayed.</p>
      <${V} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button>
      <button class="primary">Make ${e.id} the leader</button></p>
    </form>
  <//>`}function Sa({members:e,id:t,clocks:n,onChange:o}){let[s,r]=_(null);return a`<section class="panel">
    <h2>Members</h2>
    <${K}
      caption="Members"
      rows=${e}
      rowKey=${i=>i.id}
      wide
      columns=${[...Ir(t,n),["",i=>i.voter&&!i.leader&&a`<${M} role="ROLE_ADMIN" onClick=${()=>r(i)}>Make leader …<//>`,"end"],["",i=>a`<${M} role="ROLE_ADMIN" kind="danger"
          onClick=${()=>Ar(i,o)}>Remove …<//>`,"end"]]}
    />
    ${s&&a`<${xa} member=${s} onClose=${()=>r(null)} onDone=${o} />`}
  </section>`}function Da({leader:e}){let t=[...(e?.member_clocks??[]).map(n=>({name:`server ${n.id}`,ahead:n.ahead})),...(e?.host_clocks??[]).map(n=>({name:P(n),ahead:n.ahead,seen:n.seen}))];return a`<section class="panel">
    <h2>Clocks</h2>
    <${K}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${a`<${A} title=${e?"No clocks are off.":"Only the leader compares clocks, and it is not responding."} />`}
      columns=${[["Clock",n=>n.name,"name"],["Off by",n=>a`<span class="tone-stop">${nn(n.ahead)}</span>`,"num"],["Seen",n=>n.seen?a`<${ce} at=${n.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function Ca({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return a`<section class="panel">
    <h2>Job storage</h2>
    <p class="row"><${we} share=${n?t/n:0} label="${he(t)} of ${he(n)}" />
    <span class="num">${he(t)} of ${he(n)}</span></p>
    <${K}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${a`<${A} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>a`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>w(o.jobs),"num"],["Waiting",o=>w(o.waiting),"num"],["Running",o=>w(o.held),"num"],["Stored",o=>he(o.bytes),"num"]]}
    />
  </section>`}function jr(){oe("Cluster");let e=S(t=>x("/v1/members",{},t),["members"],{every:3e3,keep:!0});return a`<${Z}>Cluster<//>
    <${Xe} />
    <${W} source=${e} what="Loading the servers">
      ${t=>{let n=t.members.map(i=>({...i.member,...i})),o=Dr(n),s=o??n.find(i=>i.id===t.id)?.status??n.find(i=>i.status)?.status??{},r=n.filter(i=>i.status?.insecure).map(i=>i.id);return a`<div class="stack">
          ${!s.leader_id&&a`<p class="failure" role="alert">There is no leader. No permits are granted until a
            majority of the servers is up.</p>`}
          ${s.recovery_wait&&a`<p class="note">After a recovery, no permits are granted for another
            ${Q(O(s.recovery_wait))}.</p>`}
          ${r.length>0&&a`<p class="note">Started with --insecure: ${r.join(", ")}. Their ports may be reachable without TLS
            and authentication.</p>`}
          ${s.denied_semaphores>0&&a`<div class="note"><p>${T(s.denied_semaphores,"semaphore denies","semaphores deny")} every caller:</p>
            <ul>${s.denied.map(i=>a`<li key=${i.semaphore}>
                <a href=${`/s/${encodeURIComponent(i.semaphore)}`}>${i.semaphore}</a>: ${Rn(i)}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>State</h2>
            <${Re} facts=${[["Cluster",a`<code>${s.cluster_id}</code>`],["Leader",s.leader_id?a`${s.leader_id}${!o&&a`<span class="tone-deny"> (not responding)</span>`}`:"none"],["Servers",`${w(n.filter(i=>i.status).length)} of ${w(n.length)} responding`],["Revision",s.revision],["Definitions",w(s.definitions)],["Permits",w(s.permits)],["Waiters",o?w(s.waiters):"known only to the leader"],["Shortest safe duration",s.smallest_duration&&ge(O(s.smallest_duration))]]} />
          </section>
          <${Sa} members=${n} id=${t.id} clocks=${o&&(o.member_clocks??[])}
            onChange=${e.refresh} />
          <div class="panels">
            <${Or} members=${n} />
            <${Da} leader=${o} />
            <${Ca} status=${s} />
          </div>
          <${Mr} />
          <${Nr} />
        </div>`}}
    <//>`}var Kn=e=>e.failed?"deny":e.over?"run":j(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",zn=e=>{let t=j(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still running":t},Vn=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${w(e[t])} ${t}`).join(", ");function Jn({job:e}){let t=e.tasks??0,n=`${w(e.done)} of ${T(t,"task","tasks")} done`;return a`<div class="job-progress">
    <${cr}
      total=${t}
      label="${n}; ${Vn(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function Gn({jobs:e}){return a`<${K}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>a`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>a`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>a`<span class="tag tone-${Kn(t)}">${zn(t)}</span>`],["Progress",t=>a`<${Jn} job=${t} />`],["Failed",t=>t.failed?a`<strong class="tone-deny">${w(t.failed)}</strong>`:"0","num"],["Submitted",t=>a`<span title=${N(t.submitted_at)}>
        <${ce} at=${t.submitted_at} /> ago</span>${t.spec.author&&a`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>he(t.bytes),"num"]]}
  />`}function Fr(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${j(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var Ra=e=>e.state==="PERMIT_STATE_HELD"?"lost: its slot must be cleared":e.state==="PERMIT_STATE_COOLING"?`lost: cooling for ${Q(O(e.expires_in))}`:"";function Qn({data:e}){let t=[...e.workers??[],...e.away??[]];return a`<${K}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${P(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${a`<${A} title="There are no workers.">A worker is a program that executes tasks, such as gkctl work.<//>`}
    columns=${[["Worker",n=>P(n.identity),"name"],["Semaphore",n=>a`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>a`<span class="tag tone-${Fr(n)[1]}">${Fr(n)[0]}</span>`],["Free",n=>w(n.free),"num"],["Tasks",n=>n.tasks?.length?a`<ul class="held">${n.tasks.slice(0,8).map(o=>a`<li key=${o.token}>
                <a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${w(o.index)},
                for <${ce} at=${o.granted_at} />
                ${o.progress&&a` <${we} share=${o.progress.fraction}
                  label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${Ra(o)}</li>`)}${n.tasks.length>8&&a`<li>and ${w(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var Ia=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function Oa(){let[e,t]=B(),[n,o]=De(e.get("semaphore")??"",u=>t({semaphore:u}),300),[s,r]=De(e.get("labels")??"",u=>t({labels:u}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,c]=_(""),p=S(u=>x("/v1/jobs",{...i,page_size:100,page_token:l},u),["jobs",i,l],{every:2e3,keep:!0});return a`<form class="filters" role="search" onSubmit=${u=>u.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label>
      <input id="job-semaphore" data-search value=${n} onInput=${u=>o(u.target.value)}
        spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label>
      <input id="job-labels" value=${s} onInput=${u=>r(u.target.value)} placeholder="team=billing"
        spellcheck=${!1} /></div>
      <${be} label="State" value=${e.get("state")??""} onChange=${u=>t({state:u})}
        options=${Ia} />
    </form>
    <section class="panel">
      <${W} source=${p} what="Loading the jobs">
        ${u=>a`
          ${u.jobs?.length?a`<${Gn} jobs=${u.jobs} />`:a`<${A} title="No jobs match.">Submit jobs
            from a program, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&a`<button type="button" onClick=${()=>c("")}>First page</button>`}
            ${u.next_page_token&&a`<button type="button" onClick=${()=>c(u.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function Aa(){let e=S(t=>x("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return a`<section class="panel">
    <${W} source=${e} what="Loading the workers">${t=>a`<${Qn} data=${t} />`}<//></section>`}function Pr(){oe("Jobs");let[e]=B();return a`<${Z}>Jobs<//>
    <p class="faint">A job is a list of tasks that a program submits and workers share. Its semaphore decides who may work on it.</p>
    <${ct} tabs=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?a`<${Aa} />`:a`<${Oa} />`}`}function sn({title:e,text:t,verb:n,run:o,done:s,onClose:r,onDone:i,reason:l}){let[c,p]=_(""),[u,g]=_(null),[$,d]=_(!1);return a`<${le} title=${e} onClose=${r}>
    <form onSubmit=${async f=>{if(f.preventDefault(),!$){d(!0);try{xe(s(await o(c))),i(),r()}catch(h){g(h),d(!1)}}}}>
      <p>${t}</p>
      ${l&&a`<${R} label="Reason" value=${c} onInput=${p} maxlength="1024" />`}
      <${V} error=${u} />
      <p class="row end"><button type="button" onClick=${r}>Cancel</button>
      <button class="primary">${$?"Working …":n}</button></p>
    </form>
  <//>`}function Na({job:e,onChange:t}){let[n,o]=_(""),{id:s,semaphore:r}=e.spec,i=j(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},c=(p,u,g)=>a`<${M} role="ROLE_OPERATOR" semaphore=${r} why=${g}
      onClick=${()=>o(p)}>${u}<//>`;return a`
    ${c("retry","Retry failed …",e.failed?"":"No tasks have failed.")}
    ${c("drop","Drop failed …",e.failed?"":"No tasks have failed.")}
    ${c("cancel","Cancel …",e.over?"The job has ended.":i==="cancelled"?"It is already cancelled.":"")}
    ${c("delete","Delete …",e.over?"":"The job has not ended. Cancel it first.")}
    ${n==="retry"&&a`<${sn} ...${l} title="Retry failed tasks" verb="Retry"
      text=${`${T(e.failed,"failed task","failed tasks")} will be retried.`}
      run=${()=>E(X`/v1/jobs/${s}:retry`,{as_of:e.revision})}
        done=${p=>`${T(p.tasks??0,"task","tasks")} will be retried.`} />`}
    ${n==="drop"&&a`<${sn} ...${l} title="Drop failed tasks" verb="Drop"
      text=${`${T(e.failed,"failed task","failed tasks")} will be dropped. Dropped tasks cannot be retried.`}
      run=${()=>E(X`/v1/jobs/${s}:drop`,{as_of:e.revision})}
        done=${p=>`${T(p.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&a`<${sn} ...${l} title=${`Cancel ${s}`} verb="Cancel the job" reason
      text=${`${T(e.waiting??0,"waiting task","waiting tasks")} will not be executed, and ${T(e.held??0,"running task","running tasks")} will be stopped.`}
      run=${p=>E(X`/v1/jobs/${s}:cancel`,{reason:p,submitted_revision:e.submitted_revision,...Ee()})} done=${()=>`${s} cancelled.`} />`}
    ${n==="delete"&&a`<${sn} ...${l} title=${`Delete ${s}`} verb="Delete the job"
      text="The job and its results will be deleted."
      run=${()=>Le("DELETE",X`/v1/jobs/${s}`,{query:{submitted_revision:e.submitted_revision}})}
        done=${()=>`${s} deleted.`} onDone=${()=>pe("/jobs")} />`}`}var qr={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},La=[["","any"],...Object.keys(qr).map(e=>[e,e])];function Ma({job:e,index:t,onClose:n}){let o=S(s=>x(X`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},s),["task",e,t]);return a`<${le} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${W} source=${o} what="Loading the task">
      ${s=>{let r=s.tasks?.[0];return r?a`<${Re} facts=${[["State",j(r.state,"TASK_STATE_")],["Attempts",w(r.attempts)],["Worker",r.worker&&P(r.worker)],["Token",r.token],["Returned unfinished",r.returns]]} />
          ${r.failure&&a`<h3>Failure</h3><pre>${r.failure}</pre>`}
          <h3>Payload</h3><pre>${En(r.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${En(r.result)||"(none)"}</pre>`:a`<${A} title="There is no such task." />`}}
    <//>
  <//>`}function ja({id:e,round:t}){let[n,o]=B(),s=n.get("task")??"",[r,i]=_(0),[l,c]=_(null),p={states:s?[`TASK_STATE_${s.toUpperCase()}`]:[],from:r,page_size:100},u=S(g=>x(X`/v1/jobs/${e}/tasks`,p,g),["tasks",e,p,t],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${be} label="In state" value=${s} onChange=${g=>(i(0),o({task:g}))}
        options=${La} /></div>
    <${W} source=${u} what="Loading the tasks">
      ${g=>a`<${K}
          caption="Tasks"
          rows=${g.tasks}
          rowKey=${$=>$.index??0}
          empty=${a`<${A} title="There are no tasks in that state." />`}
          columns=${[["Task",$=>a`<button type="button" class="plain"
              onClick=${()=>c($.index??0)}>${w($.index)}
                <span class="sr-only">: show payload and result</span></button>`,"num"],["State",$=>a`<span class="tag tone-${qr[j($.state,"TASK_STATE_")]}">${j($.state,"TASK_STATE_")}</span>`],["Attempts",$=>w($.attempts),"num"],["Worker",$=>$.worker?P($.worker):"–","name"],["Progress",$=>$.progress?a`<${we} share=${$.progress.fraction} label=${`${Math.round(100*($.progress.fraction??0))} %`} /> ${$.progress.text}`:"–"],["Failure",$=>$.failure||"–"]]}
        />
        <p class="row end">
          ${r>0&&a`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${g.next>0&&a`<button type="button" onClick=${()=>i(g.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&a`<${Ma} job=${e} index=${l} onClose=${()=>c(null)} />`}
  </section>`}function Ur({name:e}){oe(e);let t=S(p=>x(X`/v1/jobs/${e}`,{},p),["job",e],{every:15e3}),[n,o]=_(0),s=Fe(()=>o(p=>p+1),1e3),[r,i]=_(null),l=()=>{t.refresh(),s(),i(null)},c=t.data?.job;return C(()=>{c&&!c.over&&r===null&&i(c.revision)},[c?.over,r]),Oe(r!==null?X`/v1/jobs/${e}:follow`:null,{after_revision:r},{message(p){p.job&&t.set(()=>({job:p.job})),s()},end:l}),t.error?.code==="NOT_FOUND"?a`<${Z}>${e}<//>
      <${A} title="There is no job with this id.">It may have been deleted, or its retention may have
      expired. <a href="/jobs">All jobs</a><//>`:c?a`<${Z} aside=${a`<${Na} job=${c} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${Kn(c)}">${zn(c)}</span><span>${Vn(c)}</span></p>
        <${Jn} job=${c} />
        ${c.cancel_text&&a`<p class="note">Cancelled ${c.cancel_text}</p>`}
        <${Re} facts=${[["Semaphore",a`<a href=${`/s/${encodeURIComponent(c.spec.semaphore)}`}>${c.spec.semaphore}</a>`],["Submitted",`${N(c.submitted_at)}${c.spec.author?` by ${c.spec.author}`:""}`],["Ended",c.ended_at&&`${N(c.ended_at)}, after ${Q(Date.parse(c.ended_at)-Date.parse(c.submitted_at))}`],["Priority",c.spec.priority],["Attempts per task",c.spec.max_attempts],["Timeout",Me(c.spec.timeout)],["Kept after it ends",Me(c.spec.retention)],["Stored",he(c.bytes)],["Labels",Object.entries(c.spec.labels??{}).map(([p,u])=>`${p}=${u}`).join(", ")]]} />
      </section>
      <${ja} id=${e} round=${n} />
    </div>`:a`<${Z}>${e}<//>${t.error&&!t.error.offline?a`<${V} error=${t.error}
      retry=${t.refresh} />`:a`<${ve} what="Loading the job" />`}`}function Hr(){oe("Log in");let[e]=B(),[t,n]=_(""),[o,s]=_(null),[r,i]=_(!1),l=e.get("next")??"/";return a`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${Z}>Log in to Gatekeeper<//>
    <form onSubmit=${async p=>{p.preventDefault(),i(!0);try{await Ho(t.trim()),pe(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(u){s(u),i(!1)}}}>
      <${R}
        label="Bearer token"
        help="Created with gkctl auth token create. This browser keeps it for 12 hours in a cookie that scripts cannot read."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&a`<${V} error=${o.status===401?{message:"The servers do not recognize this token. It may have expired or been revoked."}:o} />`}
      <p class="row end"><button class="primary"
        disabled=${r||!t.trim()}>${r?"Logging in …":"Log in"}</button></p>
    </form>
  </div>`}var Fa=e=>e&&(!e.authenticated||e.grants?.some(t=>!t.semaphores?.length&&!t.labels));function Ze(e=5e3){let t=Fa(U(_e)),n=S(t?s=>ze("/v1/known",{},"callers",s,e):null,["known",e]),o=n.data?.items??[];return{callers:o,groups:[...new Set(o.map(s=>s.group))].sort(),more:n.data?.more}}function Br({change:e,stopped:t,startedAt:n,reopened:o}){let[s,r]=_({}),i=q(!o);je();let l=t.filter(f=>!s[f.permit.token]),c=[...new Set(l.map(f=>f.permit.semaphore))],p=$e(()=>c.length<=40?c:[],[e]),u=f=>f.length&&r(h=>({...Object.fromEntries(f),...h})),g=()=>i.current?Date.now()-n:void 0,$=async()=>{let{items:f}=await ze("/v1/holders",{names:p},"permits",void 0,1e5),h=new Set(f.map(v=>v.token));u(t.filter(v=>!h.has(v.permit.token)).map(v=>[v.permit.token,{how:"gone",after:g()}])),i.current=!0};if(Oe(t.length?"/v1/watch":null,{names:p,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:f=[]}){let h=new Set(t.map(v=>v.permit.token));u(f.filter(v=>v.permit&&h.has(v.permit.token)&&v.ended).map(v=>[v.permit.token,{how:j(v.ended,"PERMIT_END_"),after:g()}]))},open:()=>i.current||$().catch(()=>{}),missed:()=>$().catch(()=>{})}),t.length===0)return a`<p class="lead">No holder had to stop.</p>`;let d=l.filter(f=>Date.now()-n>O(f.free_within)),m=t.length-l.length;return a`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${T(t.length,"holder has","holders have")} stopped.`:`${w(m)} of ${T(t.length,"holder has","holders have")} stopped.`}
      ${d.length>0&&a` <strong>${T(d.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${we} share=${m/t.length} tone=${d.length?"stop":"run"}
      label=${`${m} of ${t.length} stopped`} />
    <${K}
      caption="Holders that must stop"
      rows=${[...d,...l.filter(f=>!d.includes(f)),...t.filter(f=>s[f.permit.token])].slice(0,600)}
      rowKey=${f=>f.permit.token}
      columns=${[["Semaphore",f=>a`<a href=${`/s/${encodeURIComponent(f.permit.semaphore)}`}>${f.permit.semaphore}</a>`,"name"],["Holder",f=>P(f.permit.identity),"name"],["Token",f=>f.permit.token,"num"],["Now",f=>{let h=s[f.permit.token];if(h)return a`<span class="tone-run">${h.how}${h.after!==void 0&&` after ${Q(h.after)}`}</span>`;let v=n+O(f.free_within)-Date.now();return v>0?a`<span class="tone-wait">slot free
            within <span class="num">${lt(v)}</span></span>`:a`<span class="tone-deny">did
            not stop in time</span>`}]]}
    />
  </section>`}var pt=100,Pa=100,Yn=(e,t)=>{let n=[];for(let o=Math.floor(e/pt);o<=Math.floor(Math.max(e,t-1)/pt);o++)n.push(o);return n},Wr=e=>({...e,deadline:e.holder?.expires_in?Date.now()+O(e.holder.expires_in):0}),qa=e=>Math.max(Number(e.version),Number(e.permit_revision??0));function Kr(e){let t=JSON.stringify(e),n=U(Be),[,o]=_(0),s=()=>o(m=>m+1),r=$e(()=>({pages:new Map,revisions:new Map,requests:new Map,total:void 0,window:[0,1],round:0,lastRead:0,timer:0}),[t]),i=q(0),l=q(r);l.current=r;let c=(m,f)=>{if(!f&&(r.pages.has(m)||r.requests.has(m)))return;r.requests.get(m)?.abort();let h=new AbortController;r.requests.set(m,h);let v=performance.now();x("/v1/definitions",{...e,page_size:pt,skip:m*pt},h.signal).then(y=>{if(l.current!==r)return;r.requests.delete(m),r.error=void 0,i.current=performance.now()-v;let D=new Map((r.pages.get(m)??[]).map(I=>[I.definition.name,I]));r.pages.set(m,(y.records??[]).map(I=>{let k=D.get(I.definition.name);return k&&qa(k)>Number(y.revision)?k:Wr(I)})),r.revisions.set(m,Number(y.revision)),r.round++,r.total=y.total??(y.records??[]).length,s()},y=>{h.signal.aborted||l.current!==r||(r.requests.delete(m),r.error=y,s())})},p=()=>{r.lastRead=performance.now(),r.timer=0;let m=Yn(...r.window);for(let[f,h]of r.requests)m.includes(f)||(h.abort(),r.requests.delete(f));for(let f of m)c(f)},u=(m,f)=>{r.window=[m,f],r.timer||=setTimeout(()=>l.current===r&&p(),Math.max(0,r.lastRead+Pa-performance.now()))},g=()=>{let m=Yn(...r.window);for(let f of r.pages.keys())m.includes(f)||r.pages.delete(f);for(let f of m)c(f,!0)},$=q(g);$.current=g,C(()=>(c(0),()=>r.requests.forEach(m=>m.abort())),[t]),C(()=>{n&&$.current()},[n]),C(()=>{let m=setInterval(()=>document.hidden||$.current(),Bt(i.current));return()=>clearInterval(m)},[t,r.round]);let d=m=>{let f=!1;for(let h of r.pages.values())h.forEach((v,y)=>{h[y]=m(v),f||=h[y]!==v});f&&s()};return{at:m=>r.pages.get(Math.floor(m/pt))?.[m%pt],total:r.total,error:r.error,load:u,since:(m,f)=>Math.min(...Yn(m,f).map(h=>r.revisions.get(h)??1/0)),refresh:g,alter:d,update(m){let f=new Map(m.map(h=>[h.definition.name,Wr(h)]));d(h=>f.get(h.definition.name)??h)}}}var zr=4,an=4;function Vr({total:e,height:t,row:n,range:o,open:s,label:r,head:i,columns:l}){let c=q(null),[p,u]=_([0,30]),[g,$]=_(0),d=q(!1);ht(()=>{let k=0,G=()=>{k=0;let L=c.current?.getBoundingClientRect();if(!L)return;let H=Math.max(0,Math.floor(-L.top/t/an)*an-zr),z=Math.min(e,Math.ceil((innerHeight-L.top)/t/an)*an+zr);u(F=>F[0]===H&&F[1]===z?F:[H,Math.max(H,z)])},se=()=>k||=requestAnimationFrame(G);G(),addEventListener("scroll",se,{passive:!0}),addEventListener("resize",se);let ae=new ResizeObserver(se);return ae.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",se),removeEventListener("resize",se),ae.disconnect()}},[e,t]),C(()=>{o?.(p[0],p[1])},[p[0],p[1],e]),ht(()=>{if(!d.current)return;let k=c.current?.querySelector(`[data-row="${g}"]`);k&&(d.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let m=Math.min(g,Math.max(0,e-1)),f=k=>{if(e===0)return;d.current=!0,$(Math.max(0,Math.min(e-1,k)));let G=c.current.getBoundingClientRect().top+scrollY+k*t;(G<scrollY||G>scrollY+innerHeight)&&scrollTo(0,Math.max(0,G-innerHeight/2))},h=Math.max(1,Math.floor(innerHeight/t)-4),v={ArrowDown:()=>f(m+1),ArrowUp:()=>f(m-1),PageDown:()=>f(m+h),PageUp:()=>f(m-h),Home:()=>f(0),End:()=>f(e-1),Enter:()=>s?.(m)},y=k=>{!v[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),v[k.key]())},D=k=>{let G=k.target.closest("[data-row]");G&&$(Number(G.dataset.row))};C(()=>{let k=()=>f(m);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let I=[];for(let k=p[0];k<Math.min(p[1],e);k++)I.push(k);return e>0&&(m<p[0]||m>=p[1])&&I.push(m),a`<div class="grid" role="grid" aria-label=${r} aria-rowcount=${e+1} aria-colcount=${l}
    onKeyDown=${y} onFocusIn=${D}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${c} style=${{height:`${e*t}px`}}>
      ${I.map(k=>a`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===m?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function to(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var Xn=e=>e.value.slice(17).toLowerCase();function Ua({counts:e,total:t}){let[n,o]=B(),s=n.getAll("state"),r=i=>o({state:s.includes(i)?s.filter(l=>l!==i):[...s,i]});return a`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${s.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":w(t)}</span><span class="stat-w">all</span>
    </button>
    ${Jt.map(i=>{let l=e?.get(i.value);return a`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${s.includes(Xn(i))}
        title="${i.help} A semaphore can be in several states."
        onClick=${()=>r(Xn(i))}
      >
        <span class="stat-n num">${e?w(l):"–"}</span><span class="stat-w">
        <${Ct} value=${i.value} text=${Xn(i)} /></span>
      </button>`})}
  </div>`}var Ha=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function Ba({labels:e}){let[t,n]=B(),o=t.get("labels")??"",[s,r]=De(o,u=>n({labels:u}),400),[i,l]=_(""),c=e?.find(u=>u.key===i)?.values??[],p=u=>{u&&(n({labels:[o,u==="*"?i:`${i}=${Ha(u)}`].filter(Boolean).join(",")}),l(""))};return a`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${s} placeholder="team=data,tier!=test" onInput=${u=>r(u.target.value)}
        autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&a`<${be} label="Add a label" value=${i} onChange=${l}
      options=${[["","Label …"],...e.map(u=>[u.key,u.key])]} />
      ${i&&a`<${be} label="Value" value="" onChange=${p}
        options=${[["","Value …"],["*","any value"],...c.map(u=>[u.value,`${u.value} (${w(u.count)})`])]} />`}`}`}function Wa({summary:e,shown:t}){let[n,o]=B(),[s,r]=De(n.get("q")??"",$=>o({q:$})),[i,l]=De(n.get("group")??"",$=>o({group:$}),400),c=["q","group","labels","state"].filter($=>n.get($)),{groups:p}=Ze(),u=Vt("(min-width: 60rem)");return a`<form class="filters" role="search" onSubmit=${$=>$.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd class="hover-only" aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${s} placeholder="Words in the name, description or labels"
        onInput=${$=>r($.target.value)} onKeyDown=${$=>{$.key!=="ArrowDown"&&$.key!=="Enter"||($.preventDefault(),dispatchEvent(new Event("enter-list")))}} autocomplete="off" spellcheck=${!1} />
    </div>
    <details class="more-filters" open=${u||c.some($=>$==="group"||$==="labels")}>
      <summary>Filters</summary>
      <div class="filters-body">
        <div class="field">
          <label for="group">Admits group</label>
          <input id="group" value=${i} list="groups" placeholder="any" onInput=${$=>l($.target.value)}
            autocomplete="off" spellcheck=${!1} />
          <datalist id="groups">${p.map($=>a`<option value=${$} />`)}</datalist>
        </div>
        <${Ba} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${c.length>0&&a`<button type="button"
        onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause</a>
    </p>
  </form>`}var Zn=["State","Semaphore","In use","Holder","Time left","Queue","Group pattern"],eo=class extends it{shouldComponentUpdate(t){return t.record!==this.props.record}render({record:t}){return a`<${Ka} record=${t} />`}};function Ka({record:e}){if(!e)return a`<span class="row-loading" role="gridcell" aria-colspan=${Zn.length}>Loading …</span>`;let t=e.definition,n=e.holder,o=(e.holders??0)-1,s=er(e),r=`/s/${encodeURIComponent(t.name)}`,i=Number(e.used??0),l=t.permits??0,c=e.waiters??0;return a`
    <span class="c-state" role="gridcell"><${Tr} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${r} tabindex="-1">${t.name}</a>
      <span class="sub" title=${s&&Tt(e).join(`
`)}>${s??t.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${we} share=${l?i/l:i?1:0} tone=${i>l?"deny":"accent"}
        label="${i} of ${l} permits in use" />
      <span>${w(i)}<span class="faint"> / ${w(l)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${n?a`<span class="clip">${P(n.identity)}</span>
          <span class="sub">${n.drain_left?a`drains for ${Q(O(n.drain_left))}`:a`for <${ce} at=${n.granted_at} />`}${o>0&&` and ${w(o)} more`}</span>`:a`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${n?a`<${Qt} at=${e.deadline}
      duration=${O(n.duration)} />`:a`<span class="faint">–</span>`}</span>
    <span class="c-queue num"
      role="gridcell">${c?a`<span class="tag tone-wait">${w(c)}</span>`:a`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${t.group_pattern}</code></span>`}var za=6e3;function Jr(){oe("Overview");let[e]=B(),t=to(e),n=Kr(t),o=Vt("(max-width: 47.99rem)"),s=Vt("(max-width: 63.99rem)"),r=o?104:s?76:52,{search:i,group:l,labels:c}=t,[p,u]=_(1e4),g=S(async L=>{let H=performance.now(),z=await x("/v1/definitions:summarize",{search:i,group:l,labels:c},L);return u(Bt(performance.now()-H)),z},["summary",i,l,c],{every:p,keep:!0}),$=Fe(g.refresh,1200,{rest:2*p,burst:2}),d=$e(()=>g.data&&new Map((g.data.states??[]).map(L=>[L.state,L.count])),[g.data]),m=t.states.map(L=>d?.get(L)??0).join(),f=q(m);C(()=>{d&&f.current!==m&&(f.current=m,n.refresh())},[m,d]);let[h,v]=_({names:[]}),y=q([0,0]),D=Fe(()=>{let[L,H]=y.current,z=[],F=0;for(let b=L;b<H&&F<za;b++){let ne=n.at(b)?.definition.name;ne&&(z.push(ne),F+=ne.length+8)}v(b=>b.names.join(`
`)===z.join(`
`)?b:{names:z,from_revision:n.since(L,H)+1})},150),I=(L,H)=>{y.current=[L,H],n.load(L,H),D()};C(D),Oe(h.names.length?"/v1/watch":null,{...h,permits:!0,records:!0,live_every:"2s"},{open:L=>L&&n.refresh(),missed(){n.refresh(),$(),st()},message({records:L=[],undefined:H=[]}){n.update(L),H.length&&n.refresh(),(L.length||H.length)&&$()},live(L){let H=new Map((L.live.semaphores??[]).map(F=>[F.semaphore,F])),z=Date.now();n.alter(F=>{if(!h.names.includes(F.definition.name))return F;let b=H.get(F.definition.name),ne=b?.waiters??0,ue=b?.deadlines?.find(fe=>fe.token===F.holder?.token)?.expires_in,ie=ue?z+O(ue):F.deadline;return ne===(F.waiters??0)&&Math.abs(ie-F.deadline)<200?F:{...F,waiters:ne,deadline:ie}})}});let k=L=>{let H=n.at(L);H&&pe(`/s/${encodeURIComponent(H.definition.name)}`)},G=n.total,se=G===void 0?"…":T(G,"semaphore","semaphores"),ae=$e(()=>a`<${Z} aside=${a`<${Va} />`}>Overview<//>
      <${Xe} />
      <${Ua} counts=${d} total=${g.data&&(g.data.total??0)} />
      <${Wa} summary=${g.data} shown=${se} />`,[d,g.data,se]);return a`${ae}
    ${n.error&&!n.error.offline&&a`<${V} error=${n.error} retry=${n.refresh} />`}
    ${G===void 0?!n.error&&a`<${ve} what="Loading the semaphores" />`:G===0?a`<${Ja} filtered=${[...e].length>0} />`:a`<${Vr}
            label="Semaphores"
            total=${G}
            height=${r}
            columns=${Zn.length}
            range=${I}
            open=${k}
            head=${Zn.map(L=>a`<span role="columnheader">${L}</span>`)}
            row=${L=>a`<${eo} record=${n.at(L)} />`}
          />`}`}function Va(){let[e,t]=_(!1),[n,o]=_("");return a`<${M} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&a`<${le} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${r=>{r.preventDefault(),n.trim()&&pe(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${R} label="Name" value=${n} onInput=${o} maxlength="256" required
          help="Callers acquire it by this name. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button>
        <button class="primary">Define its rule …</button></p>
      </form>
    <//>`}`}function Ja({filtered:e}){return e?a`<${A} title="No semaphores match.">Remove a filter to see more.<//>`:a`<${A} title="There are no semaphores yet.">A semaphore is a
    named rule: which groups and hosts may run a task, and how many at once. Create one here, with <code>gkctl apply -f
    FILE</code>, or with <code>gatekeeperd --definitions FILE</code>.<//>`}var ln=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:Je(e.names??[]),Gr=e=>e.names?.length===1?e.names[0]:"";function Qr({selector:e,onClose:t,onDone:n}){let[o,s]=_({duration:"",until:"",stop:!1,drain:""}),r=()=>({selector:e,...Ae(o),...o.stop?{stop:!0,...ke(o.drain)}:{}});return a`<${Y}
    title=${`Pause ${ln(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${Gr(e)}
    deps=${o}
    preview=${async i=>E("/v1/preview",{pause:r()},i)}
    run=${async(i,l)=>E("/v1/pause",{...r(),expected:l.digest,...i})}
    done=${i=>`${T(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>No permits are granted until the pause ends. Callers keep their places in the queue.</p>
    <div class="form">
      <${qe} value=${o} set=${s} emptyHelp="Empty: until resumed." />
      <${de} label="Stop holders too" checked=${o.stop} onChange=${i=>s({...o,stop:i})}
        help="Otherwise running work continues until it finishes." />
      ${o.stop&&a`<${Ne} value=${o} set=${s} />`}
    </div>
  <//>`}function Yr({selector:e,onClose:t,onDone:n}){return a`<${Y}
    title=${`Resume ${ln(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${Gr(e)}
    preview=${async o=>E("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,s)=>E("/v1/resume",{selector:e,expected:s.digest,...o})}
    done=${o=>o.names?.length?`${T(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}var Ga=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],Xr=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function ts(){let[e,t]=B(),[n,o]=_(e.getAll("names").join(`
`)),[s,r]=_(e.get("labels")??""),[i,l]=_(e.get("all")==="1"),[c,p]=_(null),u=to(e),g=e.get("from_filter")==="1"&&(u.search||u.group||u.states.length>0);C(()=>{g&&ze("/v1/definitions",u,"records",void 0,1e3).then(({items:d,more:m})=>{o(d.map(f=>f.definition.name).join(`
`)),r(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),m&&p(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; select by label or glob instead."))},p)},[]);let $=i?{all:!0}:{...Xr(n).length&&{names:Xr(n)},...s.trim()&&{labels:s.trim()}};return{names:n,setNames:o,labels:s,setLabels:r,everything:i,setEverything:l,selector:$,error:c,isSet:i||n.trim()!==""||s.trim()!==""}}function ns({selection:e,optional:t}){let n=S(e.isSet?r=>x("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:4},r):null,["selected",e.selector],{keep:!0}),o=n.data?.records??[],s=n.data?.total??0;return a`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${R} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything}
        placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${R} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything}
        placeholder="team=data,tier!=test" help="If you also enter names, both must match." />
      ${!t&&a`<${de} label="All semaphores" checked=${e.everything} onChange=${e.setEverything}
        help="Regardless of name and labels." />`}
    </div>
    ${e.error&&a`<${V} error=${e.error} />`}
    ${n.error&&!n.error.offline&&a`<${V} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.isSet?n.data?`${T(s,"semaphore","semaphores")} selected${o.length?`: ${Je(o.map(r=>r.definition.name),4)}${s>4?" …":""}`:""}`:"Loading …":t??"Select some, or all."}
    </p>
  </fieldset>`}function Qa({where:e}){let t=U(Yt),n=t&&(t.where??e)===e?t:null,o=S(n?l=>x("/v1/history",{change:n.change,page_size:1},l):null,["last-change",n?.change],{every:5e3}),s=q(Date.now());if(!n)return null;let r=o.data?.entries?.[0]?.undone_by,i=r&&r!=="0";return a`<section class="panel stack" aria-label="The last change made here">
    <div class="title"><h2>${n.text}</h2>
      <button type="button" class="plain" aria-label="Close" onClick=${()=>Yt.set(null)}>×</button></div>
    ${i?a`<p class="note">Undone by <a href=${`/activity?change=${r}`}>change ${r}</a>.</p>`:a`<${Br} key=${n.change} change=${n.change} stopped=${n.stopped} startedAt=${n.at}
          reopened=${n.at<s.current} />`}
    <p class="row">
      <a class="button" href=${`/activity?change=${n.change}`}>Show change ${n.change}</a>
      ${!i&&a`<${M} role="ROLE_OPERATOR"
        onClick=${()=>xt(n.change,{what:n.text,where:e,onDone:o.refresh})}>Undo …<//>`}
    </p>
  </section>`}function no(e,t,n,o){Mn(t,n,o,e),scrollTo(0,0)}function os({id:e}){let{groups:t}=Ze();return a`<datalist id=${e}>${t.map(n=>a`<option value=${n} />`)}</datalist>`}function Ya({preview:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return a`
    <p class="lead">${e.moves?.length?`${T(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&a`<span class="faint"> ${T(n,"other needs","others need")} no change.</span>`}</p>
    ${e.mistake&&a`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&a`<div class="failure" role="alert"><p class="failure-text">This move is probably a mistake.</p>
        <ul>${e.doubts.map(o=>a`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&a`<div class="warnings">
      <p>${T(t.length,"semaphore must","semaphores must")} be edited by hand:</p>
      <ul>${t.slice(0,20).map(o=>a`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function Xa(){let e=ts(),[t]=B(),[n,o]=_({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[s,r]=_(!1),i=()=>({selector:e.isSet?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...ke(n.drain),...Ee()}),l=!n.from.trim()||!n.to.trim()?"Enter both groups first.":Se(()=>ke(n.drain));return a`<form class="stack" onSubmit=${c=>(c.preventDefault(),l||r(!0))}>
    <fieldset class="panel">
      <legend>Groups</legend>
      <div class="form">
        <${R} label="From group" value=${n.from} onInput=${c=>o({...n,from:c})}
          list="move-groups" required />
        <${R} label="To group" value=${n.to} onInput=${c=>o({...n,to:c})} list="move-groups" required />
        <${Ne} value=${n} set=${o} />
        <${os} id="move-groups" />
      </div>
    </fieldset>
    <${ns} selection=${e} optional="All semaphores that admit the old group but not the new one. Narrow them down by name or label." />
    <p class="row end"><${M} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${l}>Preview the move …<//></p>
    ${s&&a`<${Y}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${c=>`Move ${T(c.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async c=>E("/v1/move",{...i(),dry_run:!0},c)}
      extra=${c=>a`<${Ya} preview=${c} />`}
      nothing=${c=>c.moves?.length?"":c.mistake||"There is nothing to move."}
      run=${async(c,p)=>E("/v1/move",{...i(),expected:p.digest,...c})}
      done=${c=>`${T(c.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${(c,p)=>no("move",`Moved from ${n.from} to ${n.to}`,c,p)}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function Zr({resume:e}){let t=ts(),[n,o]=_({duration:"",until:"",stop:!1,drain:"",keep:!0}),[s,r]=_(!1),i=()=>e?{selector:t.selector}:{selector:t.selector,...Ae(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...ke(n.drain)}},l=t.isSet?Se(()=>(Ae(n),ke(n.drain))):"Select some semaphores first.",c=e?"resume":"pause";return a`<form class="stack" onSubmit=${p=>(p.preventDefault(),l||r(!0))}>
    <${ns} selection=${t} />
    ${!e&&a`<fieldset class="panel">
      <legend>How long, and what happens to running work</legend>
      <div class="form">
        <${qe} value=${n} set=${o} emptyHelp="Empty: until resumed." />
        <${de} label="Stop holders too" checked=${n.stop} onChange=${p=>o({...n,stop:p})}
          help="Otherwise running work continues until it finishes." />
        ${n.stop&&a`<${Ne} value=${n} set=${o} />`}
        <${de} label="Keep existing pauses" checked=${n.keep} onChange=${p=>o({...n,keep:p})}
          help="Otherwise this pause replaces them, including their end times." />
      </div>
    </fieldset>`}
    <p class="row end"><${M} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${l}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${s&&a`<${Y}
      title=${`${e?"Resume":"Pause"} ${ln(t.selector)}${n.duration.trim()?` for ${n.duration.trim()}`:""}`}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async p=>E("/v1/preview",{[c]:i()},p)}
      run=${async(p,u)=>E(`/v1/${c}`,{...i(),expected:u.digest,...p})}
      done=${p=>`${T(p.names?.length??0,"semaphore","semaphores")} ${c}d.`}
      kind=${n.stop?"danger":void 0}
      onDone=${(p,u)=>no(c,`${T(p.names?.length??0,"semaphore","semaphores")} ${c}d`,p,u)}
      onClose=${()=>r(!1)}
    />`}
  </form>`}var es=e=>Ve(`${Pe(e)} is cordoned ${ut(e)}`);function Za(){let[e]=B(),[t,n]=_({group:e.get("group")??"",acquirer:e.get("acquirer")??"",duration:"",until:"",drain:""}),[o,s]=_(!1),r=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...Ae(t),...ke(t.drain)}),i=!t.group.trim()&&!t.acquirer.trim()?"Enter a group or an acquirer first.":Se(()=>r()),l=()=>Pe(r()),c=()=>t.duration.trim()?`for ${t.duration.trim()}`:ut(r());return a`<form class="stack" onSubmit=${p=>(p.preventDefault(),i||s(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is being patched.</p>
    <fieldset class="panel">
      <legend>Who is shut out, and for how long</legend>
      <div class="form">
        <${R} label="Group pattern" value=${t.group} onInput=${p=>n({...t,group:p})} list="cordon-groups"
          help="A caller is shut out when either pattern matches." />
        <${R} label="Host (acquirer) pattern" value=${t.acquirer} onInput=${p=>n({...t,acquirer:p})}
          placeholder="host-3" />
        <${qe} value=${t} set=${n} emptyHelp="Empty: until the cordon is removed." />
        <${Ne} value=${t} set=${n} />
        <${os} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${M} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${i}>Preview the cordon …<//></p>
    ${o&&a`<${Y}
      title=${`Cordon ${l()}`}
      verb=${`Cordon ${l()}`}
      kind="danger"
      role="ROLE_OPERATOR"
      extra=${()=>a`<p class="lead">${Ve(l())} will be shut out of every semaphore ${c()}.</p>`}
      preview=${async p=>E("/v1/preview",{cordon:r()},p)}
      run=${async p=>E("/v1/cordon",{...r(),...p})}
      done=${p=>`${es(p.cordon)}.`}
      onDone=${(p,u)=>(st(),no("cordon",es(p.cordon),p,u))}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function rs(){oe("Move and pause");let[e]=B(),t=e.get("do")??"move";return a`<${Z}>Move and pause<//>
    <${Xe} />
    <${Qa} where=${t} />
    <${ct} tabs=${Ga} query="do" label="What to do" />
    ${t==="pause"?a`<${Zr} key="pause" />`:t==="resume"?a`<${Zr} key="resume" resume />`:t==="cordon"?a`<${Za} />`:t==="move"?a`<${Xa} />`:a`<${A} title="There is no such action." />`}`}function ss({name:e,record:t}){let[n,o]=B(),s=t?.denied?.[0],r=q(s&&{group:s.identity.group,acquirer:s.identity.acquirer,weight:s.weight>1?String(s.weight):"",worker:s.worker?"1":""}),i=n.has("acquirer")?{}:r.current??{},l={group:n.get("group")??i.group??"",acquirer:n.get("acquirer")??i.acquirer??"",weight:n.get("weight")??i.weight??"",worker:n.get("worker")??i.worker??""},[c,p]=_(l),{callers:u,groups:g}=Ze(1e3),$={identity:{group:l.group,acquirer:l.acquirer},...l.weight&&{weight:Number(l.weight)},...l.worker&&{worker:!0}},d=S(l.acquirer?h=>E(X`/v1/semaphores/${e}:explain`,$,h):null,["explain",e,l],{keep:!0,every:5e3}),m=h=>{h.preventDefault(),o(c),d.refresh()},f=h=>v=>p({...c,[h]:v});return a`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${m}>
      <${R} label="Group" value=${c.group} onInput=${f("group")} list="known-groups" placeholder="default"
        help="Where the caller runs: a zone, a site." />
      <${R} label="Acquirer" value=${c.acquirer} onInput=${f("acquirer")} list="known-acquirers" required
        help="The caller, normally a host." />
      <${R} label="Weight" type="number" min="1" value=${c.weight} onInput=${f("weight")} placeholder="1" />
      <${de} label="As a worker" checked=${c.worker==="1"} onChange=${h=>f("worker")(h?"1":"")}
        help="A worker requests a task." />
      <datalist id="known-groups">${g.map(h=>a`<option value=${h} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(u.map(h=>h.acquirer))].map(h=>a`<option value=${h} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${d.error&&!d.error.offline&&a`<${V} error=${d.error} />`}
    ${l.acquirer&&!d.data&&!d.error&&a`<${ve} what="Loading the explanation" />`}
    ${d.data&&a`<${ei} explanation=${d.data} />`}
  </section>`}function ei({explanation:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return a`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}">
    <strong>${t?"This caller would get a permit.":`Denied: ${j(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&a`<p class="note">After a recovery of the cluster, no permits are granted for
      another ${Math.ceil(O(e.recovering)/1e3)} s.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>a`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}">
        <span aria-hidden="true">${n.passed?"✓":"✗"}</span>
        <span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&a`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>a`${o?", ":""}${P(n.identity)} for <${ce} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${w(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&a`<p>${T(e.waiter_count,"caller is waiting","callers are waiting")} in the queue.</p>`}
    ${e.why_tasks_wait&&a`<p>${e.why_tasks_wait}</p>`}
  </div>`}var ti={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function ni(e,t){let n="",o,s=[];do o=await x("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),s.push(...o.firings??[]),n=o.next_page_token??"";while(n&&s.length<2e4);return{...o,firings:s.reverse()}}function as({name:e,events:t}){let n=S(c=>ni(e,c),["firings",e,t],{keep:!0}),[o,s]=_(null),[r,i]=_(100),l=o&&{semaphore:e,firings:[o.firing],...Ee()};return a`<section class="panel">
    <h2>Firings</h2>
    <${W} source=${n} what="Loading the firings">
      ${c=>a`
        <p class="faint">${w(c.count)} remembered; the limit
        is ${w(c.limit)}.${c.forgotten_up_to&&` Unlisted firings due by ${N(c.forgotten_up_to)} count as forgotten.`}</p>
        <${K}
          caption="Firings"
          rows=${c.firings.slice(0,r)}
          rowKey=${p=>Qe(p.firing)}
          empty=${a`<${A} title="No firings are remembered.">Firings appear here when a caller specifies one, for example with
            gkctl run --firing.<//>`}
          columns=${[["Firing",p=>Qe(p.firing),"name"],["State",p=>a`<span class="tag tone-${ti[j(p.state,"FIRING_STATE_")]??"idle"}">${j(p.state,"FIRING_STATE_")}</span>`],["Claimed by",p=>p.winner?P(p.winner):"–","name"],["Claimed at",p=>N(p.claimed_at)||"–","num"],["Attempts",p=>w(p.attempts),"num"],["Failure",p=>p.failure||"–"],["",p=>a`<${M} role="ROLE_OPERATOR" semaphore=${e}
              onClick=${()=>s(p)}>Forget …<//>`,"end"]]}
        />
        ${c.firings.length>r&&a`<button type="button" onClick=${()=>i(r*5)}>Show more</button>`}`}
    <//>
    ${o&&a`<${Y}
      title=${`Forget ${Qe(o.firing)}`}
      verb="Forget"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${c=>E("/v1/firings:forget",{...l,dry_run:!0},c)}
      run=${(c,p)=>E("/v1/firings:forget",{...l,plan:p.plan,...c})}
      done=${()=>`${Qe(o.firing)} forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>s(null)}
    ><p>A forgotten firing can run again, even if its job has already run.</p><//>`}
  </section>`}function is({name:e,events:t,onChange:n}){let[o,s]=B(),r=o.get("permits")==="1",[i,l]=_(50),c=S(p=>x("/v1/history",{names:[e],permits:r,page_size:i},p),["history",e,r,i,t],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>History</h2>
      <${de} label="Show ended permits" checked=${r}
        onChange=${p=>s({permits:p?"1":""})} />
    </div>
    <${W} source=${c} what="Loading the journal">
      ${p=>a`
        ${p.entries?.length?a`<${St} entries=${p.entries} semaphore=${e}
          onChange=${n} />`:a`<${A} title="No changes are recorded." />`}
        ${p.next_page_token&&i<1e3&&a`<p class="row"><button type="button"
            onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var oo=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],ro=4,ls=12,oi={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function cs({name:e,permits:t,events:n}){let[o,s]=B(),r=oo.find(([c])=>c===o.get("span"))??oo[0];je();let i=Date.now()-r[1],l=S(c=>x("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-r[1]).toISOString(),page_size:1e3},c),["timeline",e,r[0],n],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Time span">
        ${oo.map(([c])=>a`<button type="button" key=${c} aria-pressed=${c===r[0]} onClick=${()=>s({span:c==="1h"?"":c})}>${c}</button>`)}
      </div>
    </div>
    <${W} source=${l} what="Loading the journal">
      ${c=>a`<${ri} entries=${c.entries??[]} permits=${t} from=${i} to=${Date.now()}
        more=${c.next_page_token} />`}
    <//>
  </section>`}function ri({entries:e,permits:t,from:n,to:o,more:s}){let r=[...t.map(u=>({who:P(u.identity),from:Date.parse(u.granted_at),to:o,how:"holds it now",tone:u.stop?"stop":"accent",token:u.token})),...e.filter(u=>u.permit&&u.kind!=="EVENT_KIND_GRANTED"&&u.permit.granted_at).map(u=>{let g=j(u.permit.ended,"PERMIT_END_")||j(u.kind,"EVENT_KIND_");return{who:P(u.permit.identity),from:Date.parse(u.permit.granted_at),to:Date.parse(u.permit.ended_at??u.at),how:g,tone:oi[g]??"idle",token:u.permit.token}})],i=new Set,l=new Map;for(let u of r)i.has(u.token)||u.to<n||(i.add(u.token),l.set(u.who,[...l.get(u.who)??[],u]));if(l.size===0)return a`<${A} title="No permits were held during this time." />`;let c=u=>1e3*(Math.max(u,n)-n)/(o-n),p=e.filter(u=>!u.permit&&Date.parse(u.at)>=n);return a`<div class="timeline">
    ${[...l].slice(0,ls).map(([u,g])=>{let $=g[0],d=`${u}: ${T(g.length,"permit","permits")}, the last from ${N($.from)}, ${$.how}`;return a`<div class="lane" key=${u}>
        <span class="lane-name">${u}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${d}>
          <rect class="track" width="1000" height="18" />
          ${g.map(m=>a`<rect key=${m.token} class="fill-${m.tone}" x=${c(m.from)} y="2" height="14" width=${Math.max(1.5,c(m.to)-c(m.from))}>
            <title>${`${m.who}: ${N(m.from)}, ${m.how} after ${Q(m.to-m.from)}, token ${m.token}`}</title>
          </rect>`)}
          ${p.map(m=>a`<line key=${m.revision} class="mark" x1=${c(Date.parse(m.at))} x2=${c(Date.parse(m.at))} y1="0" y2="18"><title>${`${j(m.kind,"EVENT_KIND_")} by ${m.author??"–"} at ${N(m.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:ro+1},(u,g)=>a`<span key=${g}>${g===ro?"now":Ie(n+(o-n)*g/ro).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>ls||s)&&a`<p class="faint">Not everything fits here. The <a href="?tab=history&permits=1">history</a>
        shows everything.</p>`}
  </div>`}function si({permit:e,onClose:t,onDone:n}){let[o,s]=_({reason:"",drain:"",unsafe:!1}),[r,i]=_(null),[l,c]=_(!1);return a`<${le} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async u=>{if(u.preventDefault(),!l){c(!0);try{let g={reason:o.reason,...Ee()};o.drain.trim()&&(g.drain=Te(o.drain)),o.unsafe&&(g.unsafe_now=!0),await E(X`/v1/permits/${e.token}:revoke`,g),xe(`The permit of ${P(e.identity)} was revoked.`),n(),t()}catch(g){i(g),c(!1)}}}}>
      <p>${P(e.identity)} must stop. Its refreshes will be refused, and its slot will be freed when it releases its
      permit or the permit expires.</p>
      <${R} label="Reason" value=${o.reason} onInput=${u=>s({...o,reason:u})} maxlength="1024" />
      <${R} label="Drain" placeholder="2m" value=${o.drain} onInput=${u=>s({...o,drain:u})}
        error=${Se(()=>Te(o.drain))} help="How long it may keep running. Empty: it must stop now." />
      <${de} label="Free the slot immediately" checked=${o.unsafe} onChange=${u=>s({...o,unsafe:u})}
        help="Unsafe: if the holder is still running, it runs at the same time as the next one, and only fencing tokens protect what they write." />
      <${V} error=${r} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function ai({permit:e,onClose:t,onDone:n}){let[o,s]=_(""),[r,i]=_(null);return a`<${le} title="Clear a slot" onClose=${t}>
    <form onSubmit=${c=>{c.preventDefault(),E(X`/v1/permits/${e.token}:clear`,{reason:o,...Ee()}).then(()=>{xe("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${P(e.identity)} expired, and its slot is held. Clear it once you know that its job
      is no longer running.</p>
      <${R} label="Reason" value=${o} onInput=${s} maxlength="1024" />
      <${V} error=${r} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button>
      <button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var ii=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function li({permits:e,onChange:t}){let[n,o]=_(null),s=()=>o(null);return a`<section class="panel">
    <h2>Holders</h2>
    <${K}
      caption="Holders"
      rows=${e}
      rowKey=${r=>r.token}
      empty=${a`<${A} title="No permits are held." />`}
      columns=${[["Holder",r=>a`${P(r.identity)}${r.identity?.holder_id&&a`<div class="sub">${r.identity.holder_id}</div>`}`,"name"],["State",r=>a`<span class="tone-${or(r)}">${nr(r)}</span>`],["Since",r=>a`<${ce} at=${r.granted_at} />`,"num"],["Time left",r=>a`<${Qt} at=${r.deadline} duration=${O(r.duration)} />`,"num"],["Weight",r=>w(r.weight),"num"],["Token",r=>r.token,"num"],["Details",r=>[Qe(r.firing),ii(r.metadata)].filter(Boolean).join("; ")||"–"],["",r=>r.state==="PERMIT_STATE_HELD"?a`<${M} role="ROLE_OPERATOR" semaphore=${r.semaphore}
              onClick=${()=>o({clear:r})}>Clear …<//>`:r.state==="PERMIT_STATE_COOLING"?null:a`<${M} role="ROLE_OPERATOR" semaphore=${r.semaphore} group=${r.identity?.group}
                acquirer=${r.identity?.acquirer} onClick=${()=>o({revoke:r})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&a`<${si} permit=${n.revoke} onClose=${s} onDone=${t} />`}
    ${n?.clear&&a`<${ai} permit=${n.clear} onClose=${s} onDone=${t} />`}
  </section>`}function ci({data:e}){let t=n=>new Date(e.at-O(n.waiting)).toISOString();return a`<section class="panel">
    <h2>Queue</h2>
    <${K}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${a`<${A} title="No callers are waiting." />`}
      columns=${[["Position",n=>n.place||"idle worker","num"],["Waiter",n=>P(n.identity),"name"],["Weight",n=>w(n.weight),"num"],["Waiting for",n=>a`<${ce} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More callers are waiting than are shown here."}
    />
    ${(e.tasks??[]).map(n=>a`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>:
        ${T(n.tasks,"task is","tasks are")} waiting for a worker.</p>`)}
  </section>`}var ui=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function pi({rows:e,caption:t}){return a`<${K}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${P(n.identity)}`}
    columns=${[["Caller",n=>P(n.identity),"name"],["Why",n=>a`${n.message}
        <div class="second-line">${j(n.reason,"REASON_")}${n.other_holder&&`; ${P(n.other_holder)} got a permit, so this may be a standby`}${n.resolved&&"; no longer denied for this reason"}${n.semaphore&&a`. <a class="nowrap" href=${ui(n)}>Explain</a>`}</div>`],["Times",n=>w(n.count),"num"],["Last",n=>a`<span title=${N(n.last)}><${ce} at=${n.last} /> ago</span>`,"num"]]}
  />`}function di({name:e,events:t}){let n=S(o=>x("/v1/denied",{names:[e],resolved:!0},o),["denied",e,t],{every:1e4,keep:!0});return a`<section class="panel">
    <h2>Denied</h2>
    <${W} source=${n} what="Loading the denied callers">
      ${o=>a`
        ${o.callers?.length?a`<${pi} rows=${o.callers} caption="Callers that were denied" />`:a`<${A} title="No callers are denied.">Callers appear here when waiting would not
            help them${o.since?`. Recorded since ${N(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&a`<h3>Possible typos of this name</h3>
          <ul>${o.misspelled.map(s=>a`<li>${P(s.identity)} requested <code>${s.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function us({name:e,semaphore:t}){return a`<div class="stack">
    <${W} source=${t.holders}
      what="Loading the holders">${n=>a`<${li} permits=${n} onChange=${t.reload} />`}<//>
    <${cs} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${W} source=${t.waiters} what="Loading the queue">${n=>a`<${ci} data=${n} />`}<//>
      <${di} name=${e} events=${t.events} />
    </div>
  </div>`}function cn(e={}){let t={};for(let n of ye){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(s=>o[s]===""?s:`${s}=${o[s]}`).join(`
`);break;case"duration":t[n.name]=Me(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=Ge(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function ps(e,t={}){let n={...t},o={};for(let s of ye){let r=e[s.name]??"";try{let i=mi(s,r);i===void 0?delete n[s.name]:n[s.name]=i}catch(i){o[s.name]=i.message}}return{definition:n,errors:o}}function mi(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(s=>s.trim()).filter(Boolean)){let s=o.indexOf("="),r=(s<0?o:o.slice(0,s)).trim();if(!r)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,r))throw new Error(`The key ${r} appears twice.`);let i=s<0?"":o.slice(s+1).trim();Object.defineProperty(n,r,{value:i,enumerable:!0})}return n}case"duration":return Te(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern admits no callers. .* admits all of them.");return t}return t}function ds(e,t,n){let o={},s=[],r=[];for(let i of ye){let[l,c,p]=[e[i.name],t[i.name],n[i.name]];o[i.name]=c===l?p:c,c!==l&&p!==l&&c!==p&&(s.push(i.name),o[i.name]=p),(c!==l||p!==l)&&r.push({field:i,base:l,mine:c,theirs:p})}return{merged:o,conflicts:s,rows:r}}function ms({conflict:e,base:t,onMerged:n,onCancel:o}){let{theirs:s,conflicts:r,rows:i}=e,[l,c]=_({}),p=r.filter($=>!l[$]),u=()=>{let $={...e.merged};for(let d of i)l[d.field.name]&&($[d.field.name]=d[l[d.field.name]]);n($)},g=$=>{let d=$.field.name;if(!r.includes(d))return $.mine===$.theirs?a`<${tn}>the same<//>`:$.mine!==$.base?a`<${tn} tone="accent">yours<//>`:a`<${tn} tone="wait">theirs<//>`;let m=(f,h)=>a`<label class="radio">
      <input type="radio" name=${`keep-${d}`} checked=${l[d]===f}
        onChange=${()=>c({...l,[d]:f})} /> ${h}
    </label>`;return a`<fieldset class="radios">
      <legend class="sr-only">Which ${$.field.label} to
      keep</legend>${m("mine","yours")}${m("theirs","theirs")}</fieldset>`};return a`<section class="panel conflict" aria-label="Conflict">
    <h2>Another user saved first</h2>
    <p role="alert">${s.updated_by||"Another user"} saved
    version ${s.version} at ${N(s.updated_at)}${s.reason&&` (${s.reason})`}. You started
      from version ${t?.version??"–"}. Your changes have not been saved yet, and nothing is lost.</p>
    <${K}
      caption="Fields that differ"
      rows=${i}
      rowKey=${$=>$.field.name}
      columns=${[["Field",$=>$.field.label],["Original",$=>a`<code>${$.base||"(none)"}</code>`],["Yours",$=>$.mine===$.base?a`<span class="faint">unchanged</span>`:a`<ins>${$.mine||"(none)"}</ins>`],["Theirs",$=>$.theirs===$.base?a`<span class="faint">unchanged</span>`:a`<ins class="theirs">${$.theirs||"(none)"}</ins>`],["Keep",g]]}
    />
    <p class="row end">
      <span class="grow" role="status">${p.length?`Choose a value for ${p.length===1?"1 field":`${p.length} fields`} that you both changed.`:"All conflicts are resolved."}</span>
      <button type="button" onClick=${o}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${p.length?"true":void 0}
        onClick=${()=>p.length||u()}>Review the result …</button>
    </p>
  </section>`}var so=60;function fs({name:e,group:t,acquirer:n}){let[o,s]=_({group:t,acquirer:n});C(()=>{let d=setTimeout(()=>s({group:t,acquirer:n}),250);return()=>clearTimeout(d)},[t,n]);let{callers:r,more:i}=Ze(1e3),l=S(o.group&&o.acquirer?async d=>{let m={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await E("/v1/preview",{edits:{edits:[{create:m}]}},d)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),c=l.data?.eligible??l.data?.total_admitted??0,p=new Set((l.data?.admitted??[]).map(d=>`${d.acquirer} in ${d.group}`)),u=l.error&&!l.error.offline?l.error.fields?.[0]?.rule??l.error.message:"",g=p.size>=c,$=[...r].sort((d,m)=>p.has(`${m.acquirer} in ${m.group}`)-p.has(`${d.acquirer} in ${d.group}`));return a`<div class="pattern-test full" aria-live="polite">
    ${u?a`<p class="error">${u}</p>`:r.length===0?a`<p class="faint">No callers are known yet, so there are none to test the patterns on.</p>`:a`<p><strong class=${c?"tone-run":"tone-deny"}>These patterns
          admit ${c?w(c):"none"} of ${T(r.length,"known caller","known callers")}${i?" or more":""}.</strong></p>
            <ul class="chips">${$.slice(0,so).map(d=>{let m=`${d.acquirer} in ${d.group}`,f=p.has(m);return!f&&!g?null:a`<li key=${m} class=${f?"in":"out"}><span aria-hidden="true">${f?"✓":"✗"}</span>
                <span class="sr-only">${f?"admitted: ":"not admitted: "}</span>${m}</li>`})}${r.length>so&&a`<li class="out">and ${w(r.length-so)} more</li>`}</ul>`}
  </div>`}var $s={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function hs({name:e,record:t,onSaved:n}){let[o,s]=B();if(o.get("edit")==="1"||!t)return a`<${fi} name=${e} record=${t} onSaved=${n}
    onDone=${()=>s({edit:""})} />`;let i=t.definition;return a`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${M} role="ROLE_EDITOR" semaphore=${e} kind="primary"
        onClick=${()=>s({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Re} facts=${ye.map(l=>[l.label,Ge(l,i)&&(l.kind==="pattern"?a`<code>${Ge(l,i)}</code>`:Ge(l,i))])} />
    <p class="faint">Version ${t.version}, ${N(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var un=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function fi({name:e,record:t,onSaved:n,onDone:o}){let[s,r]=_(t),[i,l]=_(()=>cn(t?.definition??$s)),[c,p]=_({}),[u,g]=_(!1),[$,d]=_(null),[m,f]=_({}),h=$e(()=>cn(s?.definition??$s),[s]),{definition:v,errors:y}=ps(i,s?.definition??{name:e}),D=!s||ye.some(b=>i[b.name]!==h[b.name]),I=Object.keys(y).length>0,k=t&&s&&t.version!==s.version?t:null;C(()=>{if(!D||!s)return;let b=ne=>ne.preventDefault();return addEventListener("beforeunload",b),()=>removeEventListener("beforeunload",b)},[D]);let G=b=>ne=>{l(ue=>({...ue,[b]:ne})),f(ue=>({...ue,[b]:void 0}))},se=s?{replace:v,expected_version:s.version}:{create:{...v,name:e}},ae=()=>({edits:[se],...ke(c.drain),...s?Ae(c):{}}),L=b=>d({theirs:b,...ds(h,i,cn(b.definition))}),H=b=>{if(b.reason==="STALE_VERSION")return x(X`/v1/definitions/${e}`).then(ie=>L(ie.record),ie=>xe(ie.message,{tone:"deny"})),!0;let ne=ie=>ye.find(fe=>ie.field.endsWith(`.${fe.name}`)),ue=b.fields?.filter(ne)??[];return ue.length===0?!1:(f(Object.fromEntries(ue.map(ie=>[ne(ie).name,ie.rule]))),!0)},z=b=>{let ne=y[b.name]??m[b.name],ue=i[b.name],ie={key:b.name,label:b.label,help:b.help,error:ne,class:ue!==h[b.name]?"changed":""};if(b.kind==="flag")return a`<${de} ...${ie} checked=${ue==="yes"}
      onChange=${me=>G(b.name)(me?"yes":"no")} />`;if(b.kind==="choice")return a`<${be} ...${ie} value=${ue} onChange=${G(b.name)}
      options=${b.values.map(me=>[me.toLowerCase(),me.toLowerCase()])} />`;let fe=b.kind==="labels"?3:b.name==="description"?2:void 0;return a`<${R} ...${ie} value=${ue} onInput=${G(b.name)} area=${fe} name=${b.name}
      inputmode=${b.kind==="number"?"numeric":void 0} />`},F=b=>{b.preventDefault(),!I&&D&&g(!0)};return $?a`<${ms}
      conflict=${$}
      base=${s}
      onCancel=${()=>d(null)}
      onMerged=${b=>{r($.theirs),l(b),d(null),g(!0)}}
    />`:a`<section class="panel">
    <div class="title"><h2>${s?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&a`<p class="note" role="alert">${k.updated_by||"Another user"} saved another version
      at ${N(k.updated_at)}, while you were editing.
      <button type="button" onClick=${()=>L(k)}>Compare and merge</button></p>`}
    <form onSubmit=${F}>
      <div class="form">
        ${ye.filter(b=>!un.includes(b.name)&&b.kind!=="pattern"&&["description","labels"].includes(b.name)).map(z)}
        ${ye.filter(b=>b.kind==="pattern").map(z)}
        <${fs} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${ye.filter(b=>!un.includes(b.name)&&b.kind!=="pattern"&&!["description","labels"].includes(b.name)).map(z)}
      </div>
      <details open=${un.some(b=>i[b]!==h[b]||y[b])}>
        <summary>Firings</summary>
        <div class="form">${ye.filter(b=>un.includes(b.name)).map(z)}</div>
      </details>
      <p class="row end sticky-end">
        ${D&&a`<span class="grow faint">Nothing has been saved yet.</span>`}
        ${s&&a`<button type="button" onClick=${o}>${D?"Discard":"Back"}</button>`}
        <${M} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary"
          why=${I?"Correct the marked fields first.":D?"":"There is nothing to save."}>Review and save …<//>
      </p>
    </form>
    ${u&&a`<${Y}
      title=${s?`Save ${e}`:`Create ${e}`}
      verb=${s?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${c}
      preview=${async b=>E("/v1/preview",{edits:ae()},b)}
      run=${async b=>E("/v1/definitions:edit",{...ae(),...b})}
      done=${b=>`${e} ${s?"saved":"created"} (change ${b.revision}).`}
      onError=${H}
      onClose=${()=>g(!1)}
      onDone=${()=>{n(),o(),scrollTo(0,0)}}
    >
      ${s&&a`<details><summary>Time limit and drain</summary>
        <div class="form"><${qe} value=${c} set=${p}
          emptyHelp="After that, the old values are restored. Empty: no limit." />
            <${Ne} value=${c} set=${p} /></div>
      </details>`}
    <//>`}
  </section>`}function gs({name:e,events:t}){let n=S(s=>x("/v1/jobs",{semaphore:e,page_size:200},s),["jobs",e,t],{every:5e3,keep:!0}),o=S(s=>x("/v1/workers",{semaphore:e},s),["workers",e,t],{every:5e3,keep:!0});return a`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${W} source=${n} what="Loading the jobs">
        ${s=>s.jobs?.length?a`<${Gn} jobs=${s.jobs} />`:a`<${A} title="There are no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${W} source=${o} what="Loading the workers">${s=>a`<${Qn} data=${s} />`}<//>
    </section>
  </div>`}var $i=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],hi=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+O(n.expires_in):0}));function gi(e){let t=S(u=>x(X`/v1/definitions/${e}`,{},u),["record",e],{every:15e3}),n=S(async u=>{let g=Date.now();return hi((await ze("/v1/holders",{names:[e]},"permits",u)).items,g)},["holders",e],{every:15e3}),o=S(async u=>({at:Date.now(),...await x("/v1/waiters",{names:[e],page_size:200},u)}),["waiters",e],{every:5e3}),[s,r]=_(null),[i,l]=_(0),c=Fe(()=>{n.refresh(),o.refresh(),l(u=>u+1)},40,{rest:1e3}),p=()=>{t.refresh(),c()};return Oe("/v1/watch",{names:[e],permits:!0,records:!0,live_every:"1s"},{open:u=>u&&p(),missed(){p(),st()},message({records:u=[],undefined:g=[]}){u.length&&t.set(()=>({record:u[0]})),g.length&&t.refresh(),(u.length||g.length)&&c()},live(u){let g=(u.live.semaphores??[]).find(m=>m.semaphore===e),$=Date.now(),d=new Map((g?.deadlines??[]).map(m=>[m.token,$+O(m.expires_in)]));n.set(m=>m?.map(f=>d.has(f.token)?{...f,deadline:d.get(f.token)}:f)),s&&(g?.waiters??0)!==s.waiters&&o.refresh(),r({waiters:g?.waiters??0})}}),{record:t,holders:n,waiters:o,live:s,events:i,reload:p}}function _i({record:e,onChange:t}){let[n,o]=_(""),s=e.definition.name,r=()=>o("");return a`
    ${e.pause?a`<${M} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("resume")}>Resume …<//>`:a`<${M} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?${new URLSearchParams({names:s,.../^[\w-]+$/.test(e.definition.group_pattern)&&{from:e.definition.group_pattern}})}`}>Move …</a>
    <${M} role="ROLE_EDITOR" semaphore=${s} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&a`<${Qr} selector=${{names:[s]}} onClose=${r} onDone=${t} />`}
    ${n==="resume"&&a`<${Yr} selector=${{names:[s]}} onClose=${r}
      onDone=${t} />`}
    ${n==="delete"&&a`<${Y}
      title=${`Delete ${s}`}
      verb="Delete"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${s}
      preview=${i=>E("/v1/preview",{edits:{edits:[{delete:s,expected_version:e.version}]}},i)}
      run=${i=>E("/v1/definitions:edit",{edits:[{delete:s,expected_version:e.version}],...i})}
      done=${()=>`${s} deleted.`}
      onDone=${()=>pe("/")}
      onClose=${r}
    />`}`}function vi({record:e,holders:t,live:n}){let o=Number(e.used??0),s=e.definition.permits??0;return a`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${w(o)}<span class="faint"> / ${w(s)}</span></dd>
      <dd><${we} share=${s?o/s:o?1:0} label="${o} of ${s} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${w(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${w(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function _s({name:e}){oe(e);let t=gi(e),[n]=B(),o=n.get("tab")??"now",s=t.record.data?.record,r=t.record.error?.code==="NOT_FOUND",i=r&&!s;return a`
    <${Z} aside=${s&&a`<${_i} record=${s} onChange=${t.reload} />`}>${e}<//>
    <${Xe} />
    ${r&&a`<p class="note">This semaphore ${s?"was deleted":"does not exist"}. Its history and firings
      may still be available.</p>`}
    ${s&&!r&&a`<div class="semaphore-status">
      <p class="row">${kt(s).map(l=>a`<${Ct} key=${l.value} value=${l.value} />`)}</p>
      ${Tt(s).map((l,c)=>a`<p class="note ${c===0?`tone-${kt(s)[0]?.tone}`:""}">${l}</p>`)}
      <${vi} record=${s} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!r&&!t.record.error.offline&&a`<${V} error=${t.record.error} retry=${t.record.refresh} />`}
    <${ct} tabs=${$i} label="Parts of this semaphore" />
    ${!s&&!r?!t.record.error&&a`<${ve} what="Loading the semaphore" />`:o==="rule"?a`<${hs} key=${e} name=${e} record=${r?null:s} onSaved=${t.reload} />`:o==="history"?a`<${is} name=${e} events=${t.events} onChange=${t.reload} />`:o==="firings"?a`<${as} name=${e} events=${t.events} />`:o==="explain"?a`<${ss} name=${e} record=${s} />`:i?a`<${A} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at
                  its <a href="?tab=history">history</a>.<//>`:o==="tasks"?a`<${gs} name=${e} events=${t.events} />`:a`<${us} name=${e} semaphore=${t} />`}`}var bi=[[/^\/$/,Jr],[/^\/s\/(.+)$/,_s],[/^\/move$/,rs],[/^\/activity$/,wr],[/^\/jobs$/,Pr],[/^\/jobs\/(.+)$/,Ur],[/^\/cluster$/,jr],[/^\/access$/,yr]];function yi(){return oe("No such page"),a`<${Z}>No such page<//><${A} title="There is nothing at this URL.">
    <a href="/">Go to the overview</a><//>`}function wi(){let e=U(ot).split("?")[0],t=U(Be),[n,o]=_(!1),s=U(_e);if(C(()=>{e!=="/login"&&!_e.get()&&xn().catch(()=>{}).then(()=>o(!0))},[e==="/login",t]),e==="/login")return a`<${Xt} bare><${Hr} /><//>`;if(!s&&!n)return a`<${Xt} bare>
    <${ve} what="Checking who you are" /><//>`;let[r,i]=jo(e,bi)??[yi,[]];return a`<${Xt}><${r} key=${e} name=${i[0]} /><//>`}vo(a`<${wi} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
