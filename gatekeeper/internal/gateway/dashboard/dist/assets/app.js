var G,Zn,is,Fe,on,St,eo,xt,to,sn,rn,ls,lt=Symbol.for("pv"),Ct={},Dt=[],cs=/^m(i|n|o|s|text|space)$/,an=Array.isArray,ln=Dt.slice,Ye=Object.assign;function Qe(e){e&&e.parentNode&&e.remove()}function no(e,t,n){var o,s,r,i={},l=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?s=t[r]:i[r]=t[r];return l>2&&(i.children=l>3?ln.call(arguments,2):n),it(e,i,o,s,null)}function it(e,t,n,o,s){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:lt,__v:s||++Zn,__i:-1,__u:0};return!s&&G.vnode&&G.vnode(r),r}function Rt(e){return e.children}function nt(e,t){this.props=e,this.context=t,this.__g=0}function Pe(e,t){if(t==null)return e.__&&Pe(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:Pe(e)}function us(e){var t,n=e.__v,o=n.__e,s=[],r=[],i=e.__P;i&&((t=Ye({constructor:lt},n)).__v=n.__v+1,G.vnode&&G.vnode(t),cn(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,s,o||Pe(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,lo(s,t,r),n.__=n.__e=null,t.__e!=o&&oo(t))}function oo(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),oo(e)}function Yn(e){(8&e.__g||(e.__g|=8,Fe.push(e),St++))&&on==G.debounceRendering||((on=G.debounceRendering)||queueMicrotask)(ro)}function ro(){try{for(var e,t=1;Fe.length;)Fe.length>t&&Fe.sort(eo),e=Fe.shift(),t=Fe.length,8&e.__g&&us(e)}finally{(St=Fe.length)&&(on||queueMicrotask)(ro)}}function so(e,t,n,o,s,r,i,l,u,d,c){var $,f,p,m,h,g,b=o.__k||Dt,w=t.length;for(u=ps(n,t,b,u,w),$=0;$<w;$++)(p=n.__k[$])!=null&&(f=~p.__i&&b[p.__i]||Ct,p.__i=$,g=cn(e,p,f,s,r,i,l,u,d,c),m=p.__e,(f.ref!=p.ref||8&f.__u)&&(f.ref&&un(f.ref,null,p,f),p.ref&&c.push(p.ref,p.__c||m,p)),h=h||m,4&p.__u?(u=ao(p,u,e,!f.__v),f.__e&&(f.__e=null)):typeof p.type=="function"&&g!==void 0?u=g:m&&(u=m.nextSibling),p.__u&=-21);return n.__e=h,u}function ps(e,t,n,o,s){var r,i,l,u,d,c,$,f,p,m=n.length,h=m,g=0,b=0,w=e.__k=Array(s);for(r=0;r<s;r++)(i=t[r])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=w[r]=it(null,i):an(i)?i=w[r]=it(Rt,{children:i}):i.constructor===lt&&i.__b?i=w[r]=it(i.type,i.props,i.key,i.ref,i.__v):w[r]=i,u=r+g,i.__=e,i.__b=e.__b+1,l=null,~(d=i.__i=ds(i,n,u,h))&&(h--,(l=n[d])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,d==u-1?g--:d==u+1?g++:d!=u&&(d>u?g--:g++,b=1)):(~d||(s>m?g--:s<m&&g++),typeof i.type!="function"&&(i.__u|=4))):w[r]=null;if(b){for(c=[],$=[],r=0;r<s;r++)if((i=w[r])&&16&i.__u){for(g=0,f=c.length;g<f;)c[p=g+f>>1]<i.__i?g=p+1:f=p;c[g]=i.__i,$[r]=g+1}for(g=c.length;r--;)$[r]&&($[r]==g?g--:w[r].__u|=4)}if(h)for(r=0;r<m;r++)!(l=n[r])||2&l.__u||(l.__e==o&&(o=Pe(l)),pn(l,l));return o}function ao(e,t,n,o){var s,r,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=e,t=ao(s[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=Pe(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function ds(e,t,n,o){var s,r=e.key,i=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&r==null||u&&r==l.key&&i==l.type)return n;if(o>(u?1:0)){for(s=n-1;s>=0;s--)if((l=t[s])&&!(2&l.__u)&&r==l.key&&i==l.type)return s;for(s=n+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&r==l.key&&i==l.type)return s}return-1}function Xn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function Et(e,t,n,o,s){var r,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||Xn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||Xn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=rn[t]||(rn[t]=ms(t)),(e.__a||(e.__a={}))[t]=sn,r=t!=(t=t.replace(to,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,r):e.removeEventListener(t,i,r));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function ms(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[xt]==null)t[xt]=sn++;else if(t[xt]<this.__a[e])return;return n(G.event?G.event(t):t)}}}function cn(e,t,n,o,s,r,i,l,u,d){var c,$,f,p,m,h,g,b,w,E,O,k,I,q,Q,B,z,J,ee=t.type;if(t.constructor!==lt)return null;128&n.__u&&(u=32&n.__u,c=n.__c.__z)&&(t.__u|=u,$=r=[],c.nodeType==8?l=Tt(c,r):r.push(c),l=r[0]||l),(c=G.__b)&&c(t);e:if(typeof ee=="function"){f=i.length;try{if(b=t.props,w=(c=ee.prototype)&&c.render,E=(c=ee.contextType)&&o[c.__c],O=c?E?E.props.value:c.__:o,(p=n.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(w?t.__c=p=new ee(b,O):(t.__c=p=new nt(b,O),p.constructor=ee,p.render=$s),E&&E.sub(p),p.state||(p.state={}),p.__n=o,p.__g|=8,p.__h=[],p.__k=[]),w&&(p.__s||(p.__s=p.state),ee.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=Ye({},p.__s)),Ye(p.__s,ee.getDerivedStateFromProps(b,p.__s)))),m=p.props,h=p.state,p.__v=t,n.__c){if(b!==m&&w&&!ee.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(b,O),t.__v==n.__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(b,p.__s,O)===!1){t.__v!=n.__v&&(p.props=b,p.state=p.__s,p.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(v){v&&(v.__=t)}),Dt.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&i.push(p),l=Pe(n);break e}p.componentWillUpdate&&p.componentWillUpdate(b,p.__s,O),w&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(m,h,g)})}else w&&!ee.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),w&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=O,p.props=b,p.__P=e,p.__g&=-5,k=G.__r,I=w?25:0;do p.__g&=-9,k&&k(t),c=p.render(p.props,p.state=p.__s,p.context);while(8&p.__g&&++I<25);w&&(Dt.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(o=Ye({},o,p.getChildContext())),w&&n.__c&&p.getSnapshotBeforeUpdate&&(g=p.getSnapshotBeforeUpdate(m,h)),q=c&&c.type===Rt&&c.key==null?c.props.children:c,b.__P&&(c=l,s=(e=b.__P).namespaceURI,u=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(v){v&&pn(v,v)}),n.__k=null),l=n.__k?Pe(n,0):null),l=so(e,an(q)?q:[q],t,n,o,s,r,i,l,u,d),b.__P&&(t.__e=null,l=c),t.__u&=-161,$&&$.some(Qe),p.__h.length&&i.push(p),1&p.__g&&(p.__g&=-4)}catch(v){if(i.length=f,t.__v=null,u||r)if(v&&v.then){if(t.__u|=128|u,r){for(~(z=r.indexOf(l||void 0))||(z=r.length);(J=r[z-1])&&J.nodeType==8;)z--;for(;z<r.length;z++)if(J=r[z])if(r[z]=null,Q){if(J==B)break}else{if(J.nodeType!=8)break;J.data.startsWith("$s")&&(B=Tt(Q=J))}}if(!Q){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;Q=l}(c=Tt(Q=t.__c.__z||(t.__c.__z=Q)))?(t.__e=Q,l=c):t.__e=l,l=l&&l.nextSibling}else r&&r.some(Qe);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),v&&v.then||io(t),G.__e(v,t,n)}}else l=t.__e=fs(n.__e,t,n,o,s,r,i,u,d,e);return(c=G.diffed)&&c(t),l}function Tt(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function io(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(io))}function lo(e,t,n){for(var o=0;o<n.length;)un(n[o++],n[o++],n[o++]);G.__c&&G.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(r){r.call(s)})}catch(r){G.__e(r,s.__v)}})}function fs(e,t,n,o,s,r,i,l,u,d){var c,$,f,p,m,h,g,b,w=n.props||Ct,E=t.props,O=t.type;if(O=="svg"?s="http://www.w3.org/2000/svg":O=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(c=0;c<r.length;c++)if((m=r[c])&&(O?m.localName==O:m.nodeType==3)){e=m,r[c]=null;break}}if(!e){if(b=d.ownerDocument||document,!O)return b.createTextNode(E);e=b.createElementNS(s,O,E.is?E:d),l&&(G.__m&&G.__m(t,r),l=!1),r=null}if(O){if(d=O=="template"&&e.content||e,r=O=="textarea"&&E.defaultValue!=null?null:r&&ln.call(d.childNodes),!l&&r)for(w={},c=0;c<e.attributes.length;c++)w[(m=e.attributes[c]).name]=m.value;for(c in w)m=w[c],c=="dangerouslySetInnerHTML"?f=m:c=="children"||c in E||c=="value"&&"defaultValue"in E||c=="checked"&&"defaultChecked"in E||Et(e,c,null,m,s);for(c in E)m=E[c],c=="children"?p=m:c=="dangerouslySetInnerHTML"?$=m:c=="value"?h=m:c=="checked"?g=m:l&&typeof m!="function"||w[c]===m||Et(e,c,m,w[c],s);$?(l||f&&($.__html==f.__html||$.__html==e.innerHTML)||(e.innerHTML=$.__html),t.__k=[]):(f&&(e.textContent=""),(O=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&cs.test(O))&&(s="http://www.w3.org/1999/xhtml"),so(d,an(p)?p:[p],t,n,o,s,r,i,r?r[0]:n.__k&&Pe(n,0),l,u),r&&r.some(Qe)),l&&O!="textarea"||(c="value",O=="progress"&&h==null?e.removeAttribute(c):h==null||h===e[c]&&(O!="progress"||h)||Et(e,c,h,w[c],s),c="checked",g!=null&&g!=e[c]&&Et(e,c,g,w[c],s))}else w===E||l&&e.data==E||(e.data=E);return e}function un(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){G.__e(s,n)}}function pn(e,t,n){var o,s,r,i;if(G.unmount&&G.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||un(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){G.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&pn(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=Tt(o,r=[]))&&(o==e.__e&&r.some(Qe),Qe(s),Qe(o)),n||Qe(e.__e),e.__e=e.__c=e.__=null}function $s(e,t,n){return this.constructor(e,n)}function co(e,t){var n,o,s,r;G.__&&G.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=it(Rt,{children:[e]}),s=[],r=[],cn(t,t.__k,o||Ct,Ct,t.namespaceURI,o?null:t.firstChild?ln.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,r),lo(s,t.__k,r),t.__k.props.children=null}G={__e:function(e,t,n,o){for(var s,r,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw St=0,e}},Zn=0,is=function(e){return e!=null&&e.constructor===lt},nt.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=Ye({},this.state)),typeof e=="function"&&(e=e(Ye({},n),this.props)),e&&(Ye(n,e),this.__v&&(t&&this.__k.push(t),Yn(this)))},nt.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Yn(this))},nt.prototype.render=Rt,Fe=[],St=0,eo=function(e,t){return e.__v.__b-t.__v.__b},xt=Symbol(),to=/(PointerCapture)$|Capture$/i,sn=0,rn={},ls=0;var Xe,oe,dn,uo,mn=Object.is,Ot=0,vo=[],fn=[],ne=G,po=ne.__b,mo=ne.__r,fo=ne.diffed,$o=ne.__c,ho=ne.unmount,go=ne.__;function ut(e,t){ne.__h&&ne.__h(oe,e,Ot||t),Ot=0;var n=oe.__H||(oe.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function _(e){return Ot=1,hs(yo,e)}function hs(e,t,n){var o=ut(Xe++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):yo(void 0,t),function(r){var i=(o.__N||o.__)[0],l=o.t(i,r);mn(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=oe,!oe.__f)){oe.__f=!0;var s=oe.shouldComponentUpdate;oe.shouldComponentUpdate=function(r,i,l){var u=this.__H;if(!u)return!0;var d=!1,c=this.props!=r;if(u.__.some(function(f){f.__N&&(d=!0,mn(f.__[0],f.__N[0])||(c=!0))}),s){var $=s.call(this,r,i,l);return d?$||c:$}return!d||c}}return o.__}function D(e,t){var n=ut(Xe++,3);!ne.__s&&hn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,oe.__H.__h.push(n))}function pt(e,t){var n=ut(Xe++,4);!ne.__s&&hn(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,oe.__h.push(n))}function V(e){return Ot=5,le(function(){return{current:e}},[])}function le(e,t){var n=ut(Xe++,7);return hn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function dt(){var e=ut(Xe++,11);if(!e.__){for(var t=oe.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function gs(){var e;do{for(;e=fn.shift();)try{ct(e)}catch(n){ne.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=vo.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(ct),t.__h.some($n),t.__h=[]}catch(n){t.__h=[],ne.__e(n,e.__v)}}}while(fn.length)}ne.__b=function(e){oe=null,po&&po(e)},ne.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),go&&go(e,t)},ne.__r=function(e){mo&&mo(e),Xe=0;var t=(oe=e.__c).__H;t&&(dn==oe?oe.__h=[]:(t.__h.some(ct),t.__h.some($n),Xe=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),dn=oe},ne.diffed=function(e){fo&&fo(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&bo(vo.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),dn=oe=null},ne.__c=function(e,t){t.some(function(n){try{n.__h.some(ct),n.__h=n.__h.filter(function(o){return!o.__||$n(o)})}catch(o){n.__h=[function(){throw o}]}}),$o&&$o(e,t)},ne.unmount=function(e){ho&&ho(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,bo(fn.push(s))}else ct(s)}catch(r){t=r}}),o.__H=void 0,t&&ne.__e(t,o.__v))};var _o=typeof requestAnimationFrame=="function";function _s(e){var t,n=function(){clearTimeout(o),_o&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);_o&&(t=requestAnimationFrame(n))}function bo(e){e!=1&&uo==ne.requestAnimationFrame||((uo=ne.requestAnimationFrame)||_s)(gs)}function ct(e){var t=oe,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),oe=t}function $n(e){var t=oe;e.__c=e.__(),oe=t}function hn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!mn(n,e[o])})}function yo(e,t){return typeof t=="function"?t(e):t}var ko=function(e,t,n,o){var s;t[0]=0;for(var r=1;r<t.length;r++){var i=t[r++],l=t[r]?(t[0]|=i?1:2,n[t[r++]]):t[++r];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++r]]=l:i===6?o[1][t[++r]]+=l+"":i?(s=e.apply(l,ko(e,l,n,["",null])),o.push(s),l[0]?t[0]|=2:(t[r-2]=0,t[r]=s)):o.push(l)}return o},wo=new Map;function Eo(e){var t=wo.get(this);return t||(t=new Map,wo.set(this,t)),(t=ko(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,r=1,i="",l="",u=[0],d=function(f){r===1&&(f||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,f,i):r===3&&(f||i)?(u.push(3,f,i),r=2):r===2&&i==="..."&&f?u.push(4,f,0):r===2&&i&&!f?u.push(5,0,!0,i):r>=5&&((i||!f&&r===5)&&(u.push(r,0,i,s),r=6),f&&(u.push(r,f,0,s),r=6)),i=""},c=0;c<n.length;c++){c&&(r===1&&d(),d(c));for(var $=0;$<n[c].length;$++)o=n[c][$],r===1?o==="<"?(d(),u=[u],r=3):i+=o:r===4?i==="--"&&o===">"?(r=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(d(),r=1):r&&(o==="="?(r=5,s=i,i=""):o==="/"&&(r<5||n[c][$+1]===">")?(d(),r===3&&(u=u[0]),r=u,(u=u[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(d(),r=2):i+=o),r===3&&i==="!--"&&(r=4,u=u[0])}return d(),u})(e)),t),arguments,[])).length>1?t:t[0]}var a=Eo.bind(no);function ce(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function K(e){let[t,n]=_(e.get());return D(()=>(n(e.get()),e.subscribe(n)),[e]),t}function It(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=ce(n);return o.subscribe(s=>{try{localStorage.setItem(e,s)}catch{}}),o}var At=()=>location.pathname+location.search,Ze=ce(At()),xo=0;addEventListener("popstate",()=>Ze.set(At()));function me(e,{replace:t=!1}={}){e!==At()&&(t?history.replaceState(history.state,"",e):(xo++,history.pushState({depth:xo},"",e)),Ze.set(At()))}function To(){history.state?.depth>0?history.back():me("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():me(t.pathname+t.search))});function P(){let e=K(Ze);return[le(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:s=!0}={})=>{let r=new URLSearchParams(location.search);for(let[l,u]of Object.entries(o)){r.delete(l);for(let d of[u].flat())d&&r.append(l,d)}let i=r.toString();me(location.pathname+(i?`?${i}`:""),{replace:s})}]}function re(e){D(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function So(e,t){for(let[n,o]of t){let s=n.exec(e);if(s)try{return[o,s.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function ke(e,t,n=200){let[o,s]=_(e);return D(()=>s(e),[e]),D(()=>{if(o===e)return;let r=setTimeout(()=>t(o),n);return()=>clearTimeout(r)},[o]),[o,s]}var Ee=ce({online:!0}),qe=ce(0),mt=null;function Nt(){Ee.get().online||(clearTimeout(mt),mt=null,Ee.set({online:!0}),qe.set(qe.get()+1))}function ft(e){let t=Ee.get();Ee.set({online:!1,since:t.since??Date.now(),message:e}),mt===null&&(mt=setTimeout(Co,1e3))}async function Co(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return Nt();let t=await e.json().catch(()=>null);t?.message&&Ee.set({...Ee.get(),message:t.message})}catch{}Ee.get().online||(mt=setTimeout(Co,1e3))}var Ue=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function Y(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Mt(e={}){let t=new URLSearchParams;for(let[o,s]of Object.entries(e))for(let r of Array.isArray(s)?s:[s])r!=null&&r!==""&&r!==!1&&r!==0&&t.append(o,r);let n=t.toString();return n?`?${n}`:""}var gn=0n,Do=0,We=()=>Date.now()+Do;function Lt(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:gn.toString()}}function bs(e){try{let t=BigInt(e?.revision??0);t>gn&&(gn=t)}catch{}}async function Ne(e,t,{query:n,body:o,signal:s}={}){let r={method:e,signal:s,headers:{Accept:"application/json"}};o!==void 0&&(r.headers["Content-Type"]="application/json",r.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Mt(n),r),l=i.ok?await i.json():await i.json().catch(()=>null)}catch(u){throw s?.aborted?u:(ft("The server does not answer."),new Ue(0))}return jt(i,l)}function jt(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let s=n-Date.now();Do=Math.abs(s)>2e3?s:0}if(e.ok)return Nt(),bs(t),t??{};let o=new Ue(e.status,t);throw o.offline?ft(o.message):Nt(),e.status===401&&vs(),o}var Ft=e=>e<40?1e4:e<300?3e4:6e4,x=(e,t,n)=>Ne("GET",e,{query:t,signal:n}),T=(e,t,n)=>Ne("POST",e,{body:t,signal:n}),$t=(e,t,n)=>Ne("PUT",e,{body:t,signal:n}),Ro=(e,t)=>Ne("DELETE",e,{query:t});function vs(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Mt({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function xe(e,t,n,o,s=5e3){let r=[],i="";do{let l=await x(e,{page_size:1e3,...t,page_token:i},o);r.push(...l[n]??[]),i=l.next_page_token??""}while(i&&r.length<s);return{items:r,more:i!==""}}var y=e=>Number(e??0).toLocaleString("en"),C=(e,t,n)=>`${y(e)} ${Number(e)===1?t:n}`,N=e=>e?Math.round(parseFloat(e)*1e3):0;function ge(e){if(!e)return"0s";if(e<0)return`-${ge(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let s=Math.floor(e/o);s&&(t+=s+n),e-=s*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function X(e){return e<0?"0s":e<1e4?ge(Math.round(e/100)*100):e<36e5?ge(Math.round(e/1e3)*1e3):e<48*36e5?ge(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var ot=e=>X(Math.max(0,Math.round(e/1e3))*1e3),ys={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function we(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,s,r)=>(t+=parseFloat(s)*ys[r],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var Me=e=>e==null?"":ge(N(e));var gt=(e="")=>{let t=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?…]$/.test(t)?t:`${t}.`},ht=e=>String(e).padStart(2,"0");function M(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${ht(t.getMonth()+1)}-${ht(t.getDate())}`} ${Pt(t)}`}var Pt=e=>`${ht(e.getHours())}:${ht(e.getMinutes())}:${ht(e.getSeconds())}`;function rt(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(We()).toDateString()?Pt(t):M(e)}function fe(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function He(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${y(n)} more`:"")}function _n(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var Te=ce(null),Ut=It("author",""),$e=()=>Te.get()?.authenticated?{}:{author:Ut.get()||"dashboard"};async function bn(){let e=await x("/session");Te.set({authenticates:e.authenticated??!1,...e}),qt.clear()}async function Oo(e){await Ne("POST","/session",{body:{token:e}}),await bn()}async function Io(){await Ne("DELETE","/session"),Te.set(null)}var qt=new Map;function ws(e){let t=JSON.stringify(e),n=qt.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:T("/v1/can-i",e)},n.answer.catch(()=>qt.delete(t)),qt.set(t,n)),n.answer}function Ao(e,t="",n="",o=""){let s=K(Te),[r,i]=_("");return D(()=>{if(!e||!s?.authenticated)return i("");let l=!1;return ws({role:e,semaphore:t,group:n,acquirer:o}).then(u=>l||i(u.allowed?"":gt(u.reason)),()=>l||i("")),()=>l=!0},[e,t,n,o,s]),r}var ks=4e4,Es=5e3;function Mo(e,t,n){let o=!1,s=0,r=!1,i="",l=null,u=null,d=()=>{clearTimeout(u),l?.abort(),l=null},c=()=>{o=!0,d(),document.removeEventListener("visibilitychange",$)},$=()=>{document.hidden?d():l||p()},f=m=>{if(m.id&&(i=m.id),!m.data)return;let h=JSON.parse(m.data);if(m.type==="end")c(),n.end?.();else if(m.type==="error"){let g=new Ue(h.status??500,h);No(h.code)||(c(),n.error?.(g))}else n[m.type]?.(h,m.id)};async function p(){clearTimeout(u);let m=l=new AbortController,h=null,g=()=>{clearTimeout(h),h=setTimeout(()=>m.abort(),ks)};try{g();let b={Accept:"text/event-stream"};i&&(b["Last-Event-ID"]=i);let w=await fetch(e+Mt(t),{headers:b,signal:m.signal});if(!w.ok||!w.headers.get("Content-Type")?.startsWith("text/event-stream"))throw jt(w,await w.json().catch(()=>null)),new Ue(500,{message:"The answer is not a stream of events."});s=0,jt(w,{}),n.open?.(r),r=!0,await xs(w.body,E=>!o&&f(E),g)}catch(b){b instanceof Ue?!b.offline&&!No(b.code)&&b.status!==401?(c(),n.error?.(b)):b.status===401&&c():m.signal.aborted||ft("The connection to the server broke.")}finally{clearTimeout(h)}o||l!==m||(l=null,!document.hidden&&(s++,u=setTimeout(p,Math.min(Es,500*s)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",$),document.hidden||p(),c}var No=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function xs(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),s="",r={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let u=(s+i).split(`
`);s=u.pop();for(let d of u){if(d.endsWith("\r")&&(d=d.slice(0,-1)),d===""){t(r),r={type:"message",id:"",data:""};continue}let c=d.indexOf(":");if(c<=0)continue;let $=d.slice(c+1).replace(/^ /,"");switch(d.slice(0,c)){case"event":r.type=$;break;case"id":r.id=$;break;case"data":r.data+=$}}}}var Ts=1e4;function S(e,t,{every:n=0,keep:o=!1}={}){let[s,r]=_({}),[i,l]=_(0),u=K(qe),d=JSON.stringify(t),c=V(e);c.current=e;let $=V(0);D(()=>{if(e===null)return;let m=new AbortController,h=g=>{m.signal.aborted||($.current=0,r(g))};return $.current=Date.now(),c.current(m.signal).then(g=>h({data:g,key:d}),g=>h(b=>({...b,error:g,failed:d}))),()=>m.abort()},[d,i,u,e===null]),D(()=>{if(!n)return;let m=setInterval(()=>document.hidden||Date.now()-$.current<Ts||l(h=>h+1),n);return()=>clearInterval(m)},[n]);let f=s.key===d,p=s.failed===d?s.error:void 0;return{data:f||o?s.data:void 0,error:p,loading:!f&&!p,refresh:()=>l(m=>m+1),set:m=>r(h=>({...h,data:m(h.data)}))}}function De(e,t,n){let o=V(n);o.current=n;let s=JSON.stringify([e,t]);D(()=>{if(!e)return;let r=i=>(...l)=>o.current[i]?.(...l);return Mo(e,t,{message:r("message"),live:r("live"),missed:r("missed"),open:r("open"),error:r("error"),end:r("end")})},[s])}var vn=ce(0),Lo=null,jo=0;function Le(){return D(()=>(jo++===0&&(Lo=setInterval(()=>document.hidden||vn.set(vn.get()+1),1e3)),()=>{--jo===0&&clearInterval(Lo)}),[]),K(vn)}function Be(e,t,{rest:n=t,burst:o=4}={}){let s=V(e);s.current=e;let r=V(null),i=V(0);return D(()=>()=>clearTimeout(r.current),[]),()=>{if(r.current!==null)return;let l=performance.now();i.current=Math.max(i.current,l)+n,r.current=setTimeout(()=>{r.current=null,s.current()},Math.max(t,i.current-l-o*n))}}function Wt(e){let[t,n]=_(()=>matchMedia(e).matches);return D(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}function _e({what:e="Reading"}){return a`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function A({title:e,children:t}){return a`<div class="empty"><p class="empty-title">${e}</p>${t&&a`<p>${t}</p>`}</div>`}function W({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return a`<div class="failure" role="alert">
    <p class="failure-text">${gt(e.message)}</p>
    ${e.code==="UNAUTHENTICATED"&&a`<p>Log in again.</p>`}
    ${n.length>0&&a`<ul>${n.map(o=>a`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&a`<p>Whether a change was made is then not known. The activity page shows it. The same button
      again does nothing twice.</p>`}
    <p class="row">
      ${t&&a`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&a`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}function U({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?a`<${W} error=${e.error} retry=${e.refresh} />`:a`<${_e} what=${t} />`:a`${e.error&&!e.error.offline&&a`<${W} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function Fo(){let e=K(Ee);return Le(),e.online?a`<div role="status" class="sr-only"></div>`:a`<div class="offline" role="status">
    <strong>${gt(e.message)}</strong>
    <span> What is shown is as of ${Pt(new Date(e.since))}. This page asks again every second, and
    recovers without you.</span>
  </div>`}var _t=ce([]),Ss=0;function be(e,{tone:t="run",action:n}={}){_t.set([..._t.get().slice(-2),{id:++Ss,text:e,tone:t,action:n}])}var yn=e=>_t.set(_t.get().filter(t=>t.id!==e));function Cs({id:e,text:t,tone:n,action:o}){return D(()=>{let s=setTimeout(()=>yn(e),o?3e4:12e3);return()=>clearTimeout(s)},[e]),a`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&a`<button type="button" onClick=${()=>(yn(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>yn(e)}>×</button>
  </div>`}function Po(){let e=K(_t);return a`<div class="notices" role="status">${e.map(t=>a`<${Cs} key=${t.id} ...${t} />`)}</div>`}function L({role:e,semaphore:t,group:n,acquirer:o,why:s,kind:r="",children:i,onClick:l,type:u="button",...d}){let c=Ao(e,t,n,o),$=dt(),f=c||s;return a`<span class="action">
    <button
      type=${f?"button":u}
      class=${r}
      aria-disabled=${f?"true":void 0}
      aria-describedby=${f?$:void 0}
      onClick=${f?void 0:l}
      ...${d}
    >${i}</button>
    ${f&&a`<span class="why" role="tooltip" id=${$}>${f}</span>`}
  </span>`}function ae({title:e,onClose:t,wide:n,firm:o,children:s}){let r=V(null),i=dt();return pt(()=>{let l=document.activeElement,u=r.current;return u.showModal(),()=>{u.close(),l?.isConnected&&l.focus()}},[]),a`<dialog
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
  </dialog>`}function qo({label:e,help:t,error:n,children:o,class:s=""}){let r=dt(),i=[t&&`${r}-help`,n&&`${r}-error`].filter(Boolean).join(" ")||void 0;return a`<div class="field ${s}">
    <label for=${r}>${e}</label>
    ${o({id:r,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&a`<p class="help" id="${r}-help">${t}</p>`}
    ${n&&a`<p class="error" id="${r}-error" role="alert">${n}</p>`}
  </div>`}function R({label:e,help:t,error:n,value:o,onInput:s,area:r,class:i,...l}){return a`<${qo} label=${e} help=${t} error=${n} class=${i}>
    ${u=>r?a`<textarea rows=${r} value=${o} onInput=${d=>s(d.target.value)} ...${u}
          ...${l}></textarea>`:a`<input value=${o} onInput=${d=>s(d.target.value)} autocomplete="off" spellcheck=${!1}
          ...${u} ...${l} />`}
  <//>`}function ve({label:e,help:t,error:n,value:o,options:s,onChange:r,class:i}){return a`<${qo} label=${e} help=${t} error=${n} class=${i}>
    ${l=>a`<select value=${o} onChange=${u=>r(u.target.value)} ...${l}>
      ${s.map(([u,d])=>a`<option value=${u} selected=${u===o}>${d}</option>`)}
    </select>`}
  <//>`}function ue({label:e,help:t,checked:n,onChange:o}){let s=dt();return a`<div class="check">
    <input type="checkbox" id=${s} checked=${n} aria-describedby=${t?`${s}-help`:void 0}
      onChange=${r=>o(r.target.checked)} />
    <label for=${s}>${e}</label>
    ${t&&a`<span class="help" id="${s}-help">${t}</span>`}
  </div>`}function st({of:e,query:t="tab",label:n}){let[o]=P(),s=o.get(t)??e[0][0],r=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let u=l.toString();return location.pathname+(u?`?${u}`:"")};return a`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>a`<a href=${r(i)} aria-current=${i===s?"page":void 0}>${l}</a>`)}
  </nav>`}function Uo(e){let t=V(e);t.current=e,D(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let s=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);s&&o.key!=="Escape"||t.current[o.key]?.(o,s)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function j(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Ht=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_CORDONED",word:"cordoned",tone:"deny",help:"Cordons alone keep its callers out."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work is missed: it is silent."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"Somebody waits in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"Somebody holds a permit."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"Nothing takes a slot."}],Ds={value:"",word:"unknown",tone:"idle",help:""},Wo=e=>Ht.find(t=>t.value===e)??Ds,bt=e=>Ht.filter(t=>e.states?.includes(t.value));function Ho(e){let t=bt(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${rt(e.pause.until)}`:"paused":t?.word??"unknown"}function Bt(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(Rs(e.pause)),e.missed&&t.push(Os(e.missed));for(let n of(e.denied??[]).slice(0,1))t.push(`${F(n.identity)} is denied: ${n.message}`);for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: as it is until ${M(n.until)}, then its value of before.`);return[...t,...e.warnings??[]]}function Rs(e){let t=e.until?`Paused until ${M(e.until)}`:"Paused until it is resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${X(N(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function Os(e){let t=j(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${j(e.reason,"REASON_")})`:""}`}var F=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Bo(e){let t=j(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${X(N(e.drain_left))}`);let n=j(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Ko=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function ze(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var he=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How much weight may be held at once. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What becomes of the slot of a permit that expired. hold: until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"Callers may take over from a holder that they judge dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work is expected to ask. Empty: nothing is expected."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What becomes of a firing whose permit was lost. free: it may be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What becomes of firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How long ago such a firing may have been due."}];function Ke(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return Me(n);case"choice":return j(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function wn(e,t){return he.map(n=>({field:n,before:Ke(n,e),after:Ke(n,t)})).filter(n=>n.before!==n.after)}var kn=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(r=>`${r.acquirer} in ${r.group}`),s=t-o.length;return o.join(", ")+(s>0?` and ${y(s)} more`:"")};function zo(e=[]){let t=e.flatMap(r=>r.stopped??[]);if(t.length===0)return"No holder must stop.";let n=t.filter(r=>r.drain_left).length,o=[];t.length>n&&o.push(`${C(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let s=`${o.join(", ")}; every slot is free within ${X(Math.max(...t.map(r=>N(r.free_within))))}.`;return s[0].toUpperCase()+s.slice(1)}function Vo(e=[],t=[]){let n=new Map;for(let o of e)for(let s of o.warnings??[])n.set(s,[...n.get(s)??[],o.semaphore]);return[...t,...[...n].map(([o,s])=>`${He(s)}: ${o}`)]}var Is=e=>`${e.length===1?"change":"changes"} ${He(e,5)}`;function En(e){let t=[];return e.group_pattern&&t.push(`group ${e.group_pattern}`),e.acquirer_pattern&&t.push(`acquirer ${e.acquirer_pattern}`),e.until&&t.push(`until ${M(e.until)}`),t.join(", ")}function Jo(e){let t=[],n=j(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${M(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${M(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${X(N(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${En(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let r=e.firings.firings.map(l=>ze(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${C(r.length,"firing","firings")} ${i} (${He(r)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${Is([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${F(e.permit.identity)}, token ${e.permit.token}`);let s=j(e.missed,"MISSED_KIND_");return s&&t.push(s),e.drain&&t.push(`drain ${X(N(e.drain))}`),[...new Set(t)].join("; ")}var As={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},Go=e=>As[j(e,"EVENT_KIND_")]??"idle",Qo=e=>["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function vt(e){let t=j(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function H({caption:e,columns:t,rows:n,rowKey:o,empty:s,note:r,wide:i}){return n?.length?a`<div class=${i?"table-wrap wide":"table-wrap"}>
    <table>
      <caption class="sr-only">${e}</caption>
      <thead><tr>${t.map(([l,,u])=>a`<th scope="col" class=${u}>${l}</th>`)}</tr></thead>
      <tbody>
        ${n.map((l,u)=>a`<tr key=${o?o(l):u}>
          ${t.map(([d,c,$],f)=>f===0?a`<th scope="row" class=${$} data-label=${d}>${c(l)}</th>`:a`<td class=${$} data-label=${d}>${c(l)}</td>`)}
        </tr>`)}
      </tbody>
    </table>
    ${r&&a`<p class="faint">${r}</p>`}
  </div>`:s??a`<${A} title="Nothing here." />`}function Se({of:e}){return a`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>a`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function ye({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return a`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function Kt({at:e,of:t,what:n="expires unless it is refreshed"}){if(Le(),!e)return a`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),s=t&&o/t<.34;return a`<span class="deadline" title=${n}>
    ${t>0&&a`<${ye} share=${o/t} tone=${s?"wait":"run"} label="${ot(o)} left" />`}
    <span class="num">${ot(o)}</span>
  </span>`}function ie({at:e}){return Le(),e?a`<time class="num" datetime=${e}
    title=${new Date(e).toLocaleString()}>${ot(We()-Date.parse(e))}</time>`:"–"}function Yo({parts:e,total:t,label:n}){let o=0;return a`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([s])=>s>0).map(([s,r])=>{let i=t?1e3*s/t:0,l=a`<rect class="fill-${r}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var Ve=50;function xn({before:e,after:t}){if(!e&&!t)return null;if(!e)return a`<span>created</span>`;if(!t)return a`<span>deleted</span>`;let n=wn(e,t);return n.length===0?a`<span class="faint">–</span>`:a`<ul class="changes">
    ${n.map(o=>a`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function Ns({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:a`<section>
    <h3>Must stop</h3>
    <${H}
      caption="Holders that must stop"
      rows=${t.slice(0,Ve)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>F(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>a`<${ie} at=${n.permit.granted_at} />`,"num"],["Free within",n=>X(N(n.free_within))+(n.drain_left?` (its drain had ${X(N(n.drain_left))} left)`:""),"num"]]}
      note=${t.length>Ve&&`and ${y(t.length-Ve)} more`}
    />
  </section>`}function Tn({of:e}){let{confirm:t=[],warnings:n=[]}=e;return a`${t.length>0&&a`<ul class="confirm">${t.map(o=>a`<li>${o.text}</li>`)}</ul>`}
    ${n.length>0&&a`<ul class="warnings">${n.slice(0,20).map(o=>a`<li>${o}</li>`)}</ul>`}`}function Xo({of:e}){let t=e.effects??[],n=t.filter(r=>r.total_admitted||r.total_shut_out||!r.before!=!r.after||wn(r.before,r.after).length),o=t.flatMap(r=>r.held??[]),s=t.filter(r=>Number(r.waiting_tasks));return a`<div class="effects">
    <p class="lead">${zo(t)}</p>
    <${Tn} of=${{confirm:e.confirm,warnings:Vo(t,e.warnings)}} />
    ${n.length>0&&a`<section>
      <h3>${C(n.length,"semaphore changes","semaphores change")}</h3>
      <${H}
        caption="Semaphores that change"
        rows=${n.slice(0,Ve)}
        rowKey=${r=>r.semaphore}
        columns=${[["Semaphore",r=>r.semaphore,"name"],["Changes",r=>a`<${xn} before=${r.before} after=${r.after} />`],["Lets in",r=>kn(r.admitted,r.total_admitted??0)||"–"],["Shuts out",r=>kn(r.shut_out,r.total_shut_out??0)||"–"],["Stops",r=>y(r.stopped?.length),"num"],["Continue",r=>y(r.unaffected),"num"]]}
        note=${n.length>Ve&&`and ${y(n.length-Ve)} more`}
      />
    </section>`}
    <${Ns} effects=${t} />
    ${o.length>0&&a`<section><h3>Held for an operator</h3>
      <ul>${o.slice(0,Ve).map(r=>a`<li>${r.semaphore}: the permit of ${F(r.identity)} (token ${r.token}) expired. Its slot stays taken until
          it is cleared.</li>`)}</ul>
    </section>`}
    ${s.length>0&&a`<ul>${s.slice(0,Ve).map(r=>a`<li>${r.semaphore}: ${C(r.waiting_tasks,"task waits","tasks wait")} for a
        worker${r.tasks_run?`; after this change, ${r.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function Z(e){let{title:t,verb:n,kind:o,preview:s,run:r,done:i,onClose:l,onDone:u,onError:d,role:c,semaphore:$,nothing:f,deps:p,extra:m,children:h}=e,{show:g=Ce=>a`<${Xo} of=${Ce} />`,undoable:b=!0,journal:w=!0}=e,[E,O]=_(0),k=S(s,[t,E,p],{keep:!0}),I=k.loading||k.error,[q,Q]=_(""),[B,z]=_(!1),[J,ee]=_(null),v=V(null),pe=k.data&&f?.(k.data);D(()=>{k.error&&d?.(k.error)===!0&&l()},[k.error]),D(()=>{v.current=null},[JSON.stringify(p)]);let se=()=>{v.current=null,ee(null),O(E+1)};async function Ae(Ce){if(Ce.preventDefault(),!(B||I||pe)){z(!0),ee(null),v.current??=Lt();try{let de=await r({reason:q,...$e(),...v.current},k.data),tt=de.revision??de.change,as=b&&tt&&tt!=="0"?{text:"Undo",run:()=>et(tt)}:void 0;be(i(de),{action:as}),u?.(de,k.data),l()}catch(de){de.code!=="UNAVAILABLE"&&(v.current=null),z(!1);let tt=d?.(de);tt===!0?l():tt!=="shown"&&ee(de)}}}return a`<${ae} title=${t} onClose=${l} wide firm=${!!h}>
    <form onSubmit=${Ae}>
      ${h}
      <${U} of=${k} what="Asking what this would do">
        ${Ce=>a`${m?.(Ce)}${g(Ce)}${Ce.notes?.length>0&&a`<ul>${Ce.notes.map(de=>a`<li>${de}</li>`)}</ul>`}
        ${pe&&a`<p class="lead">${pe}</p>`}`}
      <//>
      ${w&&a`<${R} label="Reason" help="For the journal: why you do this." value=${q}
        onInput=${Q} maxlength="1024" />`}
      ${J&&a`<${W} error=${J}
        retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(J.reason)?se:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${L} role=${c} semaphore=${$} type="submit" kind=${o??"primary"}
          why=${I?"There is no preview yet.":pe}>
          ${B?"Working …":typeof n=="function"?n(k.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var Sn=ce(null);function et(e,t){Sn.set({change:String(e),onDone:t})}function Zo(){let e=K(Sn);return e?a`<${Z}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb="Undo it"
    preview=${()=>T("/v1/undo",{change:e.change,dry_run:!0,...$e()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`It was undone already, by change ${t.undone_by}.`:t.nothing?"Nothing is left to undo.":""}
    run=${(t,n)=>T("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} is undone.`}
    onDone=${e.onDone}
    onClose=${()=>Sn.set(null)}
  />`:null}var Ms=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],Cn=It("theme","auto");Cn.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function Ls(){let e=K(Cn),t={auto:"light",light:"dark",dark:"auto"}[e];return a`<button type="button" class="plain" onClick=${()=>Cn.set(t)}
    title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" />
      <path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var js=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","These keys"]];function Fs({onClose:e}){return a`<${ae} title="Keys" onClose=${e}>
    <dl class="keys">${js.map(([t,n])=>a`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function Ps(){let e=K(Te),t=K(Ut),[n,o]=_(!1);if(!e)return null;let s=e.authenticated?e.principal||e.credential:t||"dashboard";return a`<button type="button" class="plain who" onClick=${()=>o(!0)}>
    <span class="sr-only">You are </span>${s}</button>
    ${n&&a`<${ae} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?a`<p>The servers see you as <strong>${e.principal}</strong>,
          by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button"
              onClick=${()=>Io().catch(()=>{}).then(()=>me("/login"))}>Log out</button></p>`:a`<p>These servers do not authenticate callers: everybody may do everything.</p>
            <${R} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it."
              value=${t} onInput=${r=>Ut.set(r)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function qs(){let e=S(o=>x("/v1/status",{},o),["status"],{every:1e4,keep:!0}),t=K(Ee).online,n=e.data;return t?n?a`<a class="leader" href="/cluster">
    ${n.leader_id?a`<span class="lamp tone-run" aria-hidden="true"></span><span>${n.leader_id}
      <span class="long"> leads</span></span>`:a`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:a`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`:a`<a class="leader" href="/cluster">
    <span class="lamp tone-deny" aria-hidden="true"></span>no answer</a>`}var Us={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function zt({children:e,bare:t}){let n=K(Ze).split("?")[0],[o,s]=_(!1),r=V(null),i=V(!0),l=V(0);return D(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),r.current?.querySelector("h1")?.focus()},[n]),Uo({"?":()=>s(!0),"/":u=>{let d=document.querySelector("[data-search]");d&&(u.preventDefault(),d.focus(),d.select())},Escape:(u,d)=>{d?u.target.blur():n!=="/"&&To()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(Us).map(([u,d])=>[u,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${d}"]`)?.click()]))}),a`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&a`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" /><span>Gatekeeper</span></a>
      <nav class="nav" aria-label="Views">
        ${Ms.map(([u,d])=>{let c=u==="/"?n==="/"||n.startsWith("/s/"):n===u||n.startsWith(`${u}/`);return a`<a href=${u} aria-current=${c?"page":void 0}>${d}</a>`})}
      </nav>
      <div class="tools">
        <${qs} />
        <${Ps} />
        <${Ls} />
        <button type="button" class="plain" onClick=${()=>s(!0)} title="Keys">
        <span aria-hidden="true">?</span><span class="sr-only">Keys</span></button>
      </div>
    </header>`}
    <${Fo} />
    <main id="main" tabindex="-1" ref=${r}>${e}</main>
    <${Po} />
    <${Zo} />
    ${o&&a`<${Fs} onClose=${()=>s(!1)} />`}`}function te({children:e,aside:t}){return a`<div class="title">
    <h1 tabindex="-1">${e}</h1>${t&&a`<div class="row">${t}</div>`}</div>`}var Dn=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens; it has no scope"]],Vt=Dn.map(([e])=>[`ROLE_${e.toUpperCase()}`,e]);var er=e=>e.split(`
`).map(t=>t.trim()).filter(Boolean),nr=e=>({role:e.role,semaphores:(e.semaphores??[]).join(`
`),labels:e.labels??"",group:e.group??"",acquirer:e.acquirer??""}),Rn=e=>({name:e?.name??"",subjects:(e?.subjects??[]).join(`
`),grants:(e?.grants??[{role:"ROLE_VIEWER"}]).map(nr)}),tr=e=>({name:e.name.trim(),subjects:er(e.subjects),grants:e.grants.map(t=>({role:t.role,semaphores:er(t.semaphores),labels:t.labels.trim(),group:t.group,acquirer:t.acquirer}))}),On=e=>[...(e?.subjects??[]).map(t=>`subject ${t}`),...(e?.grants??[]).map(t=>`grant ${vt(t)}`)];function Ws({was:e,is:t}){let[n,o]=[On(e),On(t)],s=o.filter(i=>!n.includes(i)),r=n.filter(i=>!o.includes(i));return s.length+r.length===0?null:a`<ul class="changes">
    ${s.map(i=>a`<li><span class="sr-only">adds </span><ins>${i}</ins></li>`)}
    ${r.map(i=>a`<li><span class="sr-only">removes </span><del>${i}</del></li>`)}
  </ul>
  ${r.length>0&&a`<p>Callers lose what is removed at once.</p>`}`}function Hs({number:e,value:t,set:n,remove:o,error:s}){let r=i=>l=>n({...t,[i]:l});return a`<fieldset class="grant">
    <legend>Grant ${e}</legend>
    <div class="form">
      <${ve} label="Role" value=${t.role} options=${Vt} onChange=${r("role")}
        error=${s("role")} />
      <${R} label="Semaphores" area=${2} value=${t.semaphores} onInput=${r("semaphores")}
        error=${s("semaphores")} help="Names or globs, one on each line. Empty: all." />
      <${R} label="Labels" value=${t.labels} onInput=${r("labels")} error=${s("labels")}
        help="A selector, as team=data. Empty: any." />
      <${R} label="Group" value=${t.group} onInput=${r("group")} error=${s("group")}
        help="A pattern of the groups as which callers may act. Empty: any." />
      <${R} label="Acquirer" value=${t.acquirer} onInput=${r("acquirer")} error=${s("acquirer")}
        help="The same for acquirers." />
    </div>
    <p class="row end"><button type="button" onClick=${o}>Remove grant ${e}</button></p>
  </fieldset>`}function Bs(){let[e,t]=_([]),n=o=>s=>s.field===o||s.field.startsWith(`${o}[`);return{error:o=>e.find(n(o))?.rule,clear:()=>t([]),take(o,s){return t(o.fields),o.fields.length>0&&o.fields.every(r=>s.some(i=>n(i)(r)))}}}function or({binding:e,onClose:t,onDone:n}){let[o,s]=_(e),[r,i]=_(()=>Rn(e)),[l,u]=_(null),d=Bs(),c=tr(r),$=le(()=>JSON.stringify(tr(Rn(o))),[o]),f=b=>{d.clear(),i({...r,...b})},p=b=>w=>f({grants:r.grants.map((E,O)=>O===b?w:E)}),m=["binding.name","binding.subjects"];r.grants.forEach((b,w)=>m.push(...Object.keys(b).map(E=>`binding.grants[${w}].${E}`)));let h=b=>{if(b.reason!=="STALE_VERSION")return d.take(b,m)&&"shown";x("/v1/bindings").then(w=>u(w.bindings.find(E=>E.name===c.name)),()=>{})},g=b=>{s(l),b||i(Rn(l)),u(null)};return a`<${Z}
    title=${e?`Edit binding ${e.name}`:"Create a binding"}
    verb=${o?"Save":"Create"}
    role="ROLE_ADMIN"
    deps=${[c,o?.revision]}
    preview=${async()=>({})}
    show=${()=>a`<${Ws} was=${o} is=${c} />`}
    nothing=${()=>l?"Choose what becomes of the change of somebody else.":c.name?o&&$===JSON.stringify(c)?"Nothing was changed.":"":"It needs a name."}
    run=${({reason:b})=>$t(Y`/v1/bindings/${c.name}`,{binding:c,expected_revision:o?.revision,reason:b})}
    done=${()=>`Binding ${c.name} is ${o?"saved":"created"}.`}
    onError=${h}
    onClose=${t}
    onDone=${n}
  >
    ${l&&a`<div class="note" role="alert">
      <p>${l.updated_by||"Somebody"} saved this binding at ${M(l.updated_at)}, while you
      edited it. It is now:</p>
      <ul>${On(l).map(b=>a`<li>${b}</li>`)}</ul>
      <p class="row">
        <button type="button" onClick=${()=>g(!0)}>Keep my values</button>
        <button type="button" onClick=${()=>g(!1)}>Take these values</button>
      </p>
    </div>`}
    <div class="form">
      ${!e&&a`<${R} label="Name" value=${r.name} onInput=${b=>f({name:b})}
        error=${d.error("binding.name")}
        help="The principal: the author of changes, and the owner of permits." autofocus />`}
      <${R} label="Subjects" area=${3} value=${r.subjects} onInput=${b=>f({subjects:b})}
        error=${d.error("binding.subjects")}
        help="One on each line: cert:NAME, spiffe://DOMAIN/PATH or oidc:CLAIM=VALUE. None: only bearer tokens." />
    </div>
    ${r.grants.map((b,w)=>a`<${Hs} key=${w} number=${w+1} value=${b} set=${p(w)}
        remove=${()=>f({grants:r.grants.filter((E,O)=>O!==w)})}
        error=${E=>d.error(`binding.grants[${w}].${E}`)} />`)}
    <p><button type="button" onClick=${()=>f({grants:[...r.grants,nr({role:"ROLE_VIEWER"})]})}>Add a grant</button></p>
  <//>`}function rr({binding:e,onClose:t,onDone:n}){let o=e.subjects??[],s=e.tokens??[];return a`<${Z}
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
    run=${({reason:r})=>Ro(Y`/v1/bindings/${e.name}`,{expected_revision:e.revision,reason:r})}
    done=${()=>`Binding ${e.name} is removed.`}
    onError=${r=>{r.reason==="STALE_VERSION"&&n()}}
    onClose=${t}
    onDone=${n}
  />`}function Re({lasts:e,until:t}){return e?.trim()?{lasts:we(e)}:t?{until:new Date(t).toISOString()}:{}}var Oe=e=>e?.trim()?{drain:we(e)}:{};function Ie(e){try{return e(),""}catch(t){return t.message}}function je({value:e,set:t,without:n="It stays until somebody ends it.",error:o}){return a`<${R}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${s=>t({...e,lasts:s,until:""})}
      error=${Ie(()=>we(e.lasts??""))||o}
      help=${`As 30m or 2h. ${n}`}
    />
    <${R} label="Or until" type="datetime-local" value=${e.until??""}
      onInput=${s=>t({...e,until:s,lasts:""})} />`}function Je({value:e,set:t}){return a`<${R}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${Ie(()=>we(e.drain??""))}
    help="How long holders that must stop may continue. Empty: their next refresh is refused."
  />`}var Ks={message:"It is not known whether the token was created. If the list has a new one, revoke it."};function sr(e){let{lasts:t,until:n}=Re(e);return t?{expires_at:new Date(We()+N(t)).toISOString()}:n?{expires_at:n}:{}}function zs({of:e,binding:t,onClose:n}){let o=V(null),[s,r]=_("");D(()=>o.current.querySelector("input").select(),[]);let i=async()=>{o.current.querySelector("input").select();try{await navigator.clipboard.writeText(e.secret),r("Copied.")}catch{r("The browser does not allow it: copy the selected text with Ctrl-C.")}},l=e.token.expires_at?`until ${M(e.token.expires_at)}`:"until it is revoked";return a`<div class="stack" ref=${o}>
    <p class="note" role="alert">Copy the token now. It is shown only this once: the servers keep a hash of it.</p>
    <${R} label="Token" value=${e.secret} onInput=${()=>{}} readonly />
    <p>A caller that shows it acts as ${t}, ${l}. Its id is <code>${e.token.id}</code>.</p>
    <p class="row end">
      <span class="grow" role="status">${s}</span>
      <button type="button" onClick=${i}>Copy</button>
      <button type="button" class="primary" onClick=${n}>Done</button>
    </p>
  </div>`}function ar({binding:e,onClose:t,onDone:n}){let[o,s]=_({lasts:"30d",until:""}),[r,i]=_(""),[l,u]=_(null),[d,c]=_(null),[$,f]=_(!1),p=Ie(()=>sr(o)),m=async g=>{if(g.preventDefault(),!($||p)){f(!0),c(null);try{u(await T("/v1/tokens",{binding:e,reason:r,...sr(o)})),n()}catch(b){c(b.offline?Ks:b),b.offline&&n()}f(!1)}},h=d?.fields?.find(g=>g.field==="expires_at")?.rule;return a`<${ae} title=${`${l?"Token":"Create a token"} of ${e}`} onClose=${t} firm>
    ${l?a`<${zs} of=${l} binding=${e} onClose=${t} />`:a`<form onSubmit=${m}>
          <p>A caller that shows the token may do all that the binding grants.</p>
          <div class="form">
            <${je} value=${o} set=${g=>(s(g),c(null))}
              without="Empty: until it is revoked." error=${h} />
          </div>
          <${R} label="Reason" help="For the journal: why you do this." value=${r}
            onInput=${i} maxlength="1024" />
          ${d&&!h&&a`<${W} error=${d} />`}
          <p class="row end">
            <button type="button" onClick=${t}>Cancel</button>
            <${L} role="ROLE_ADMIN" type="submit" kind="primary"
              why=${p}>${$?"Working …":"Create it"}<//>
          </p>
        </form>`}
  <//>`}function ir({binding:e,token:t,onClose:n,onDone:o}){return a`<${Z}
    title=${`Revoke token ${t.id}`}
    verb="Revoke it"
    kind="danger"
    role="ROLE_ADMIN"
    undoable=${!1}
    preview=${async()=>({})}
    show=${()=>a`<p>Callers with this token of ${e} are refused at once, and its streams end within
      a second. Permits live
      until they expire.</p>`}
    run=${({reason:s})=>T(Y`/v1/tokens/${t.id}:revoke`,{reason:s})}
    done=${()=>`Token ${t.id} is revoked.`}
    onClose=${n}
    onDone=${o}
  />`}function Vs(){let[e,t]=_({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=_(null),[s,r]=_(null);return a`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),T("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(u=>(o(u),r(null)),r)}}>
      <${ve} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${Vt} />
      <${R} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})}
        help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?a`<p class="lead tone-run">Yes.</p>`:a`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${s&&a`<${W} error=${s} />`}
  </section>`}var In=200;function Js({session:e}){let t=S(f=>x("/v1/bindings",{},f),["bindings"],{keep:!0}),[n,o]=_(null),[s,r]=_("");if(t.error?.code==="PERMISSION_DENIED")return a`<${A} title="Only administrators see who may do what." />`;let i=e?.authenticates===!1?"These servers do not authenticate callers, so bindings mean nothing.":"",l=(f,p,...m)=>a`<${L} role="ROLE_ADMIN" why=${i} kind=${p} onClick=${()=>o(m)}>${f}<//>`,u={onClose:()=>o(null),onDone:t.refresh},[d,c,$]=n??[];return a`<div class="title"><h2>Who may do what</h2>${l("Create a binding …","primary","edit")}</div>
    <${U} of=${t} what="Reading the bindings">
      ${({bindings:f=[]})=>{let p=f.filter(m=>s.toLowerCase().split(/\s+/).every(h=>JSON.stringify(m).toLowerCase().includes(h)));return a`${(f.length>10||s)&&a`<${R} label="Find" value=${s} onInput=${r}
            help="Words of names, subjects, grants and tokens." />`}
        <${H}
          caption="Bindings"
          rows=${p.slice(0,In)}
          rowKey=${m=>m.name}
          empty=${a`<${A} title=${s?"No binding has these words.":"There are no bindings."} />`}
          note=${p.length>In&&`and ${y(p.length-In)} more: find them by words`}
          columns=${[["Name",m=>m.name,"name"],["Subjects",m=>a`<ul class="changes">${(m.subjects??[]).map(h=>a`<li>${h}</li>`)}</ul>`,"name"],["May",m=>a`<ul class="changes">
              ${(m.grants??[]).map(h=>a`<li>${vt(h)}</li>`)}
            </ul>`],["Tokens",m=>a`<ul class="changes">
              ${(m.tokens??[]).map(h=>a`<li class="row">
                <span><code>${h.id}</code>${h.expires_at&&` until ${M(h.expires_at)}`}</span>${l("Revoke …","","revoke",m,h)}
              </li>`)}
            </ul>`],["Changed",m=>`${M(m.updated_at)}${m.updated_by?` by ${m.updated_by}`:""}`],["",m=>a`<span class="row end">
              ${l("Edit …","","edit",m)}${l("Create a token …","","token",m)}${l("Remove …","danger","remove",m)}
            </span>`,"end"]]}
        />`}}
    <//>
    ${d==="edit"&&a`<${or} binding=${c} ...${u} />`}
    ${d==="remove"&&a`<${rr} binding=${c} ...${u} />`}
    ${d==="token"&&a`<${ar} binding=${c.name} ...${u} />`}
    ${d==="revoke"&&a`<${ir} binding=${c.name} token=${$} ...${u} />`}`}function lr(){re("Access");let e=K(Te);return a`<${te}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?a`<${Se} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map(vt).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:a`<p>These servers do not authenticate callers: everybody may do everything.</p>`:a`<${_e} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${Vs} />
        <section class="panel"><h2>Roles</h2>
          <${H} caption="Roles" rows=${Dn}
            columns=${[["Role",t=>t[0],"num"],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><${Js} session=${e} /></section>
    </div>`}var Gs=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],Qs=e=>Gs.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function yt({entries:e,semaphore:t,onChange:n}){let o="";return a`<ol class="entries">
    ${e.map(s=>{let r=s.revision!==o;return o=s.revision,a`<li key=${`${s.revision}.${s.ordinal??0}`} class=${r?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${s.at} title=${M(s.at)}>${rt(s.at)}</time>
          <span class="tag tone-${Go(s.kind)}">${j(s.kind,"EVENT_KIND_")}</span>
          ${!t&&s.semaphore&&a`<a class="mono" href=${`/s/${encodeURIComponent(s.semaphore)}`}>${s.semaphore}</a>`}
          <span class="grow">${Jo(s)}</span>
          <span class="faint"><a href=${`/activity?change=${s.revision}`}>change ${s.revision}</a>${s.author&&` by ${s.author}`}</span>
          ${r&&Qo(s)&&a`<${L} role=${Qs(s.kind)} semaphore=${s.semaphore??""}
              onClick=${()=>et(s.revision,n)}>Undo …<//>`}
        </div>
        ${s.reason&&a`<p class="entry-reason">${s.reason}</p>`}
        ${s.before&&s.after&&a`<${xn} before=${s.before} after=${s.after} />`}
      </li>`})}
  </ol>`}function cr(){re("Activity");let[e,t]=P(),n=e.get("change")??"";return a`<${te} aside=${n&&a`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?a`<${Zs} change=${n} />`:a`<${Xs} params=${e} change=${t} />`}`}var Ys=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function Xs({params:e,change:t}){let[n,o]=ke(e.get("q")??"",g=>t({q:g}),300),[s,r]=ke(e.get("labels")??"",g=>t({labels:g}),400),i=e.get("permits")==="1",l=e.get("by")??"",[u,d]=ke(l,g=>t({by:g}),300),[c,$]=_(50),f={names:Ys(e.get("q")??""),labels:e.get("labels")??"",permits:i},p=S(g=>x("/v1/history",{...f,page_size:c},g),["journal",f,c],{every:15e3,keep:!0}),m=Be(p.refresh,i?500:60);De("/v1/watch",f,{message:({events:g=[]})=>g.length&&m(),missed:m,open:g=>g&&m()});let h=(p.data?.entries??[]).filter(g=>!l||(g.author??"").toLowerCase().includes(l.toLowerCase()));return a`<form class="filters" role="search" onSubmit=${g=>g.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label>
      <input id="activity-q" data-search value=${n} onInput=${g=>o(g.target.value)}
        placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label>
      <input id="activity-by" value=${u} onInput=${g=>d(g.target.value)} spellcheck=${!1}
        autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label>
      <input id="activity-labels" value=${s} onInput=${g=>r(g.target.value)} spellcheck=${!1}
        autocomplete="off" /></div>
      <${ue} label="Also how permits ended" checked=${i}
        onChange=${g=>t({permits:g?"1":""})} />
    </form>
    <section class="panel">
      <${U} of=${p} what="Reading the journal">
        ${g=>a`
          ${h.length?a`<${yt} entries=${h} onChange=${p.refresh} />`:a`<${A} title="The journal has nothing of that.">Edits, pauses, cordons and undos appear
              here as they happen.<//>`}
          ${g.next_page_token&&c<1e3&&a`<p class="row"><button type="button"
              onClick=${()=>$(Math.min(1e3,c*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function Zs({change:e}){let t=S(n=>x("/v1/history",{change:e,page_size:1e3},n),["change",e]);return a`<section class="panel">
    <${U} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:s})=>a`
        ${o&&a`<p class="note">The journal has forgotten a part of this
          change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?a`<${yt} entries=${n} onChange=${t.refresh} />`:a`<${A} title=${`The journal has no change ${e}.`} />`}
        ${s&&a`<p class="faint">Only its first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&a`<p><a href=${`/activity?change=${n[0].undoes}`}>The change that it undoes</a></p>`}`}
    <//>
  </section>`}var Jt="M4 14V2",ur={idle:[Jt,"M4 4l8-2"],running:[Jt,"M4 3l9 4v-3l-9-2z"],waiting:[Jt,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[Jt,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function wt({word:e}){let t=ur[e]??ur.idle;return a`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>a`<path d=${n} />`)}
  </svg>`}function kt({value:e,text:t}){let n=Wo(e);return a`<span class="state tone-${n.tone}"><${wt} word=${n.word} /><span>${t??n.word}</span></span>`}function pr({record:e}){let t=bt(e)[0];return a`<${kt} value=${t?.value} text=${Ho(e)} />`}function Gt({tone:e="idle",children:t}){return a`<span class="tag tone-${e}">${t}</span>`}var ea=864e5,mr=1e3,fr=e=>e?.role==="SERVER_ROLE_LEADER",$r=e=>e.map(t=>t.status).filter(fr).sort((t,n)=>Number(n.term)-Number(t.term))[0],hr=e=>e.port==="CERTIFICATE_PORT_API"?"API":j(e.port,"CERTIFICATE_PORT_"),Qt=e=>N(e)<0?`${ge(-N(e))} behind`:`${ge(N(e))} ahead`;function gr(e){if(e.error)return["deny",e.error];let t=Date.parse(e.not_after)-We();if(t<=0)return["deny","has ended"];let n=Math.floor(t/ea);return[n<7?"deny":n<30?"wait":"",n<1?`ends in ${X(t)}`:`ends in ${C(n,"day","days")}`]}function ta(e,t){if(!e.status)return[["deny",`does not answer: ${e.error}`]];let n=(e.status.certificates??[]).map(o=>[o,...gr(o)]).filter(([,o])=>o);return[Number(e.lag??0)>=mr&&["wait","lagging"],...n.map(([o,s,r])=>[s,`${hr(o)} certificate ${o.error?"cannot be used":r}`]),t&&["stop",`clock is ${Qt(t.ahead)}`],e.status.insecure&&["stop","started with --insecure"]].filter(Boolean)}var na={run:"running",wait:"waiting",stop:"missed",deny:"denied"};function oa({of:e}){return(e.length?e:[["run","well"]]).map(([t,n])=>a`<div class="state tone-${t}"><${wt} word=${na[t]} /><span>${n}</span></div>`)}function ra(e){return e.status?fr(e.status)?a`<strong class="tone-run">leader</strong>`:e.voter?j(e.status.role,"SERVER_ROLE_")||"stopping":"non-voter":e.voter?"voter":"non-voter"}var dr=e=>ge(+(parseFloat(e??"0")*1e3).toFixed(2));function _r(e,t){let n=s=>r=>r.status?s(r.status,r):a`<span class="faint">–</span>`,o=s=>t?.find(r=>r.id===s.id);return[["Server",s=>a`${s.id}${s.id===e&&a`<span class="faint"> (answers you)</span>`}
      <span class="under">${s.api_address||"API address not known"}<br />${s.peer_address} (peers)</span>`,"name"],["State",s=>a`<${oa} of=${ta(s,o(s))} />`],["Role",ra,"whole"],["Term",n(s=>s.term),"num"],["Entries behind",n((s,r)=>r.lag===void 0?"not known":a`<span class=${Number(r.lag)>=mr?"tone-wait":""}>${y(r.lag)}</span>`),"num"],["Log writes",n(s=>s.log_writes?a`${dr(s.log_writes.median)}
        <span class="under">${dr(s.log_writes.longest)} longest</span>`:"none yet"),"num"],["Snapshot",n(({last_snapshot:s})=>s?a`${s.taken_at?a`<${ie} at=${s.taken_at} /> ago`:`index ${s.index}`}
        <span class="under">${fe(s.bytes)}</span>`:"none yet"),"num"],["Version",n(s=>a`${s.version||"–"}<span class="under">level ${s.feature_level}</span>`),"whole"],["Up for",n(s=>s.uptime&&X(N(s.uptime))),"num"],["Clock",n((s,r)=>t?o(r)?a`<span class="tone-stop">${Qt(o(r).ahead)}</span>`:"in step":"not known"),"num"]]}function br({of:e}){let t=e.flatMap(o=>(o.status?.certificates??[]).map(s=>({...s,server:o.id}))),n=e.filter(o=>!o.status).map(o=>o.id);return a`<section class="panel">
    <h2>Certificates</h2>
    <${H}
      caption="Certificates of the servers"
      rows=${t}
      rowKey=${o=>`${o.server} ${o.port}`}
      empty=${a`<${A} title="No server that answers uses TLS." />`}
      columns=${[["Server",o=>o.server,"name"],["Port",hr],["Subject",o=>o.subject||"–","name"],["Ends",o=>{let[s,r]=gr(o);return a`<span class=${s&&`tone-${s}`}>${o.error?r:a`${M(o.not_after)}, ${r}`}</span>`}]]}
      note=${n.length>0&&`Those of ${n.join(", ")} are not known.`}
    />
  </section>`}var An=ce(null),vr=(e,t)=>An.set({member:e,onDone:t});function sa({of:e}){let t=(e.members??[]).filter(r=>r.voter).map(r=>r.id),n=Math.floor(t.length/2)+1,o=t.length-n,s=e.silent??[];return a`
    <p class="lead">${C(t.length,"voter is","voters are")} left: ${t.join(", ")}.</p>
    <p>The cluster needs ${n} of ${t.length===1?"it":"them"}:
      ${o?` it works on while ${C(o,"voter is","voters are")} away.`:" it stops when one is away."}</p>
    ${s.length>0&&a`<p class="note">${s.join(", ")} ${s.length===1?"does":"do"} not answer
      now.</p>`}`}function yr(){let e=K(An);if(!e)return null;let t=e.member.id;return a`<${Z}
    key=${t}
    title=${`Remove ${t}`}
    verb=${`Remove ${t}`}
    kind="danger"
    role="ROLE_ADMIN"
    journal=${!1}
    preview=${n=>T("/v1/members:remove",{id:t,dry_run:!0},n)}
    show=${n=>a`<p>${t} leaves for good: it stops, and its id can never be used again. A new server
      needs a new id and an empty
      data folder.${e.member.leader&&" It leads now, so another server takes over."}</p><${sa} of=${n} />`}
    nothing=${n=>n.already_removed?`${t} was removed before.`:n.refusal??""}
    run=${()=>T("/v1/members:remove",{id:t})}
    done=${n=>`${t} is removed. ${C(n.members?.length??0,"member is","members are")} left.`}
    onDone=${e.onDone}
    onClose=${()=>An.set(null)}
  />`}var aa={max_duration:"The longest duration of a definition. Raising it lengthens, for good, how long a recovered cluster grants nothing.",journal_per_semaphore:"Edits that the journal keeps of each semaphore, and as many ends of permits.",journal_total:"The same of all semaphores together.",journal_lifetime:"How long the journal keeps an entry.",remembered_deletions:"Deleted definitions whose version is remembered.",request_lifetime:"How long a request is remembered at least, while there is room.",requests_kept:"Requests of each semaphore that are remembered for longer.",request_bytes:"The most bytes for requests.",edit_bytes:"The most bytes for requests that edit.",max_task_bytes:"The most bytes of the payload of a task, and of its result.",max_job_bytes:"The most bytes of the payloads of a job.",max_semaphore_work_bytes:"The most bytes that the jobs of a semaphore store and reserve.",max_work_bytes:"The same of all semaphores together."},Xt=e=>typeof e=="string"&&e.endsWith("s"),Yt=(e,t)=>Xt(t)?ge(N(t)):e.includes("bytes")?fe(t):y(t),wr=e=>Xt(e)?Me(e):String(e);function ia(e,t){if(e.trim()==="")throw new Error("It needs a value.");if(Xt(t))return we(e);if(!/^\d+$/.test(e.trim()))throw new Error(`“${e}” is not a whole number.`);return e.trim()}function la(e,t){let n={},o={};for(let[s,r]of Object.entries(t))if(e[s]!==wr(r))try{n[s]=ia(e[s],r)}catch(i){o[s]=i.message}return{changed:n,errors:o}}var Nn=({before:e={},after:t={}})=>Object.keys(t).filter(n=>e[n]!==t[n]);function ca({settings:e,onClose:t,onDone:n}){let[o,s]=_(()=>Object.fromEntries(Object.entries(e).map(([h,g])=>[h,wr(g)]))),[r,i]=_({}),[l,u]=_(!1),{changed:d,errors:c}=la(o,e),$=Object.keys(d).length?"":"Nothing was changed.",f=Object.keys(c).length?"A field has a mistake.":$,p=h=>g=>{s({...o,[h]:g}),i({...r,[h]:void 0})},m=h=>{let g=h.fields.filter(b=>b.field.startsWith("settings.")).map(b=>[b.field.slice(9),b.rule]);return i(Object.fromEntries(g)),g.length>0};return a`<form onSubmit=${h=>(h.preventDefault(),f||u(!0))}>
      <div class="form">
        ${Object.entries(e).map(([h,g])=>a`<${R} key=${h} label=${h} value=${o[h]} onInput=${p(h)}
            class=${h in d||c[h]?"changed":""} inputmode=${Xt(g)?void 0:"numeric"}
            help=${`${aa[h]??""} Now ${Yt(h,g)}.`} error=${c[h]??r[h]} />`)}
      </div>
      <p class="row end sticky-end">
        <button type="button" onClick=${t}>${f&&f===$?"Back":"Discard"}</button>
        <${L} role="ROLE_ADMIN" type="submit" kind="primary" why=${f}>Review and save …<//>
      </p>
    </form>
    ${l&&a`<${Z}
      title="Change the settings"
      verb="Save"
      role="ROLE_ADMIN"
      undoable=${!1}
      preview=${h=>$t("/v1/settings",{settings:d,dry_run:!0},h)}
      show=${h=>a`<${H}
          caption="Settings that change"
          rows=${Nn(h)}
          columns=${[["Setting",g=>g,"name"],["Now",g=>a`<del>${Yt(g,h.before[g])}</del>`],["Then",g=>a`<ins>${Yt(g,h.after[g])}</ins>`]]}
        />
        <${Tn} of=${h} />
        <p class="faint">Undo does not take settings back: set the earlier values again.</p>`}
      nothing=${h=>Nn(h).length?"":"The settings have these values already."}
      run=${({reason:h,author:g},b)=>$t("/v1/settings",{settings:d,expected:b.before,reason:h,author:g})}
      done=${h=>`${C(Nn(h).length,"setting is","settings are")} changed, as change ${h.revision}.`}
      onError=${m}
      onClose=${()=>u(!1)}
      onDone=${n}
    />`}`}function kr(){let[e,t]=P(),n=S(r=>x("/v1/settings",{stale:!0},r),["settings"]),o=e.get("edit")==="settings",s=()=>t({edit:""});return a`<section class="panel">
    <div class="title"><h2>Settings</h2>
      ${!o&&a`<${L} role="ROLE_ADMIN" onClick=${()=>t({edit:"settings"},{replace:!1})}>Edit<//>`}
    </div>
    <${U} of=${n} what="Reading the settings">
      ${({settings:r={}})=>o?a`<${ca} settings=${r} onClose=${s} onDone=${()=>(n.refresh(),s())} />`:a`<${Se} of=${Object.entries(r).map(([i,l])=>[i,Yt(i,l)])} />`}
    <//>
  </section>`}var ua=()=>S(e=>x("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function Ge(){let e=ua(),[t,n]=_(null),o=e.data?.cordons??[];if(o.length===0)return null;let s=r=>T("/v1/uncordon",{id:r.id,...$e(),...Lt()}).then(i=>{be(`Cordon ${r.id} is ended.`,{action:{text:"Undo",run:()=>et(i.revision,e.refresh)}}),n(null),e.refresh()},n);return a`<section class="cordons" aria-label="Cordons in force">
    <${W} error=${t} />
    <ul>
      ${o.map(r=>a`<li key=${r.id}>
          <span class="state tone-deny"><${wt} word="cordoned" />cordoned</span>
          <span class="grow">${En(r)}${r.reason&&`: ${r.reason}`}${r.author&&a`<span class="faint"> by ${r.author}</span>`}</span>
          <${L} role="ROLE_OPERATOR" onClick=${()=>s(r)}>End it<//>
        </li>`)}
    </ul>
  </section>`}function pa({member:e,onClose:t,onDone:n}){let[o,s]=_(null);return a`<${ae} title="Hand leadership over" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),T("/v1/leadership:transfer",{id:e.id}).then(l=>{be(`${l.leader_id} leads.`),n(),t()},s)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${W} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button>
      <button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function da({of:e,id:t,clocks:n,onChange:o}){let[s,r]=_(null);return a`<section class="panel">
    <h2>Members</h2>
    <${H}
      caption="Members"
      rows=${e}
      rowKey=${i=>i.id}
      wide
      columns=${[..._r(t,n),["",i=>i.voter&&!i.leader&&a`<${L} role="ROLE_ADMIN" onClick=${()=>r(i)}>Let it lead …<//>`,"end"],["",i=>a`<${L} role="ROLE_ADMIN" kind="danger"
          onClick=${()=>vr(i,o)}>Remove …<//>`,"end"]]}
    />
    ${s&&a`<${pa} member=${s} onClose=${()=>r(null)} onDone=${o} />`}
  </section>`}function ma({leader:e}){let t=[...(e?.member_clocks??[]).map(n=>({name:`server ${n.id}`,ahead:n.ahead})),...(e?.host_clocks??[]).map(n=>({name:F(n),ahead:n.ahead,seen:n.seen}))];return a`<section class="panel">
    <h2>Clocks</h2>
    <${H}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${a`<${A} title=${e?"No clock is off.":"Only the leader compares clocks, and it does not answer."} />`}
      columns=${[["Whose",n=>n.name,"name"],["Off by",n=>a`<span class="tone-stop">${Qt(n.ahead)}</span>`,"num"],["Seen",n=>n.seen?a`<${ie} at=${n.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function fa({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return a`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${ye} share=${n?t/n:0} label="${fe(t)} of ${fe(n)}" />
    <span class="num">${fe(t)} of ${fe(n)}</span></p>
    <${H}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${a`<${A} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>a`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>y(o.jobs),"num"],["Waiting",o=>y(o.waiting),"num"],["Running",o=>y(o.held),"num"],["Stored",o=>fe(o.bytes),"num"]]}
    />
  </section>`}function Er(){re("Cluster");let e=S(t=>x("/v1/members",{},t),["members"],{every:3e3,keep:!0});return a`<${te}>Cluster<//>
    <${Ge} />
    <${U} of=${e} what="Asking the servers">
      ${t=>{let n=t.members.map(i=>({...i.member,...i})),o=$r(n),s=o??n.find(i=>i.id===t.id)?.status??n.find(i=>i.status)?.status??{},r=n.filter(i=>i.status?.insecure).map(i=>i.id);return a`<div class="stack">
          ${!s.leader_id&&a`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority
            of the servers is there.</p>`}
          ${s.recovery_wait&&a`<p class="note">Nothing is granted for another ${X(N(s.recovery_wait))}: a
            recovery is being waited out.</p>`}
          ${r.length>0&&a`<p class="note">Started with --insecure: ${r.join(", ")}. The ports may be reached without TLS
            and authentication.</p>`}
          ${s.denied_semaphores>0&&a`<div class="note"><p>${C(s.denied_semaphores,"semaphore is","semaphores are")} asked for in
            vain:</p>
            <ul>${s.denied.map(i=>a`<li key=${i.semaphore}>
                <a href=${`/s/${encodeURIComponent(i.semaphore)}`}>${i.semaphore}</a>: ${i.text||i.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>State</h2>
            <${Se} of=${[["Cluster",a`<code>${s.cluster_id}</code>`],["Leader",s.leader_id?a`${s.leader_id}${!o&&a`<span class="tone-deny"> (does not answer)</span>`}`:"none"],["Servers",`${y(n.filter(i=>i.status).length)} of ${y(n.length)} answer`],["Revision",s.revision],["Definitions",y(s.definitions)],["Permits",y(s.permits)],["Waiters",o?y(s.waiters):"only the leader knows"],["Smallest safe duration",s.smallest_duration&&ge(N(s.smallest_duration))]]} />
          </section>
          <${da} of=${n} id=${t.id} clocks=${o&&(o.member_clocks??[])}
            onChange=${e.refresh} />
          <div class="panels">
            <${br} of=${n} />
            <${ma} leader=${o} />
            <${fa} status=${s} />
          </div>
          <${kr} />
          <${yr} />
        </div>`}}
    <//>`}var Mn=e=>e.failed?"deny":e.over?"run":j(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",Ln=e=>{let t=j(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},jn=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${y(e[t])} ${t}`).join(", ");function Fn({job:e}){let t=e.tasks??0,n=`${y(e.done)} of ${C(t,"task","tasks")} done`;return a`<div class="job-progress">
    <${Yo}
      total=${t}
      label="${n}; ${jn(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function Pn({jobs:e}){return a`<${H}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>a`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>a`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>a`<span class="tag tone-${Mn(t)}">${Ln(t)}</span>`],["Progress",t=>a`<${Fn} job=${t} />`],["Failed",t=>t.failed?a`<strong class="tone-deny">${y(t.failed)}</strong>`:"0","num"],["Submitted",t=>a`<span title=${M(t.submitted_at)}>
        <${ie} at=${t.submitted_at} /> ago</span>${t.spec.author&&a`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>fe(t.bytes),"num"]]}
  />`}function xr(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${j(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var $a=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${X(N(e.expires_in))}`:"";function qn({data:e}){let t=[...e.workers??[],...e.away??[]];return a`<${H}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${F(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${a`<${A} title="Nobody works.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>F(n.identity),"name"],["Semaphore",n=>a`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>a`<span class="tag tone-${xr(n)[1]}">${xr(n)[0]}</span>`],["Free",n=>y(n.free),"num"],["Tasks",n=>n.tasks?.length?a`<ul class="held">${n.tasks.slice(0,8).map(o=>a`<li key=${o.token}>
                <a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${y(o.index)},
                for <${ie} at=${o.granted_at} />
                ${o.progress&&a` <${ye} share=${o.progress.fraction}
                  label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${$a(o)}</li>`)}${n.tasks.length>8&&a`<li>and ${y(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var ha=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function ga(){let[e,t]=P(),[n,o]=ke(e.get("semaphore")??"",c=>t({semaphore:c}),300),[s,r]=ke(e.get("labels")??"",c=>t({labels:c}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,u]=_(""),d=S(c=>x("/v1/jobs",{...i,page_size:100,page_token:l},c),["jobs",i,l],{every:2e3,keep:!0});return a`<form class="filters" role="search" onSubmit=${c=>c.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label>
      <input id="job-semaphore" data-search value=${n} onInput=${c=>o(c.target.value)}
        spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label>
      <input id="job-labels" value=${s} onInput=${c=>r(c.target.value)} placeholder="team=billing"
        spellcheck=${!1} /></div>
      <${ve} label="State" value=${e.get("state")??""} onChange=${c=>t({state:c})}
        options=${ha} />
    </form>
    <section class="panel">
      <${U} of=${d} what="Reading the jobs">
        ${c=>a`
          ${c.jobs?.length?a`<${Pn} jobs=${c.jobs} />`:a`<${A} title="No job matches.">Jobs
            are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&a`<button type="button" onClick=${()=>u("")}>First page</button>`}
            ${c.next_page_token&&a`<button type="button" onClick=${()=>u(c.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function _a(){let e=S(t=>x("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return a`<section class="panel">
    <${U} of=${e} what="Reading the workers">${t=>a`<${qn} data=${t} />`}<//></section>`}function Tr(){re("Jobs");let[e]=P();return a`<${te}>Jobs<//>
    <${st} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?a`<${_a} />`:a`<${ga} />`}`}function Zt({title:e,text:t,verb:n,run:o,done:s,onClose:r,onDone:i,reason:l}){let[u,d]=_(""),[c,$]=_(null),[f,p]=_(!1);return a`<${ae} title=${e} onClose=${r}>
    <form onSubmit=${async h=>{if(h.preventDefault(),!f){p(!0);try{be(s(await o(u))),i(),r()}catch(g){$(g),p(!1)}}}}>
      <p>${t}</p>
      ${l&&a`<${R} label="Reason" value=${u} onInput=${d} maxlength="1024" />`}
      <${W} error=${c} />
      <p class="row end"><button type="button" onClick=${r}>Cancel</button>
      <button class="primary">${f?"Working …":n}</button></p>
    </form>
  <//>`}function ba({job:e,onChange:t}){let[n,o]=_(""),{id:s,semaphore:r}=e.spec,i=j(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},u=(d,c,$)=>a`<${L} role="ROLE_OPERATOR" semaphore=${r} why=${$}
      onClick=${()=>o(d)}>${c}<//>`;return a`
    ${u("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${u("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${u("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${u("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&a`<${Zt} ...${l} title="Retry failed tasks" verb="Retry"
      text=${`${C(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>T(Y`/v1/jobs/${s}:retry`,{as_of:e.revision})}
        done=${d=>`${C(d.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&a`<${Zt} ...${l} title="Drop failed tasks" verb="Drop"
      text=${`${C(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>T(Y`/v1/jobs/${s}:drop`,{as_of:e.revision})}
        done=${d=>`${C(d.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&a`<${Zt} ...${l} title=${`Cancel ${s}`} verb="Cancel the job" reason
      text=${`${C(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${C(e.held??0,"running task stops","running tasks stop")}.`}
      run=${d=>T(Y`/v1/jobs/${s}:cancel`,{reason:d,submitted_revision:e.submitted_revision,...$e()})} done=${()=>`${s} is cancelled.`} />`}
    ${n==="delete"&&a`<${Zt} ...${l} title=${`Delete ${s}`} verb="Delete the job"
      text="The job is removed with its results."
      run=${()=>Ne("DELETE",Y`/v1/jobs/${s}`,{query:{submitted_revision:e.submitted_revision}})}
        done=${()=>`${s} is deleted.`} onDone=${()=>me("/jobs")} />`}`}var Sr={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},va=[["","any"],...Object.keys(Sr).map(e=>[e,e])];function ya({job:e,index:t,onClose:n}){let o=S(s=>x(Y`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},s),["task",e,t]);return a`<${ae} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${U} of=${o} what="Reading the task">
      ${s=>{let r=s.tasks?.[0];return r?a`<${Se} of=${[["State",j(r.state,"TASK_STATE_")],["Attempts",y(r.attempts)],["Worker",r.worker&&F(r.worker)],["Token",r.token],["Returned unfinished",r.returns]]} />
          ${r.failure&&a`<h3>Failure</h3><pre>${r.failure}</pre>`}
          <h3>Payload</h3><pre>${_n(r.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${_n(r.result)||"(none)"}</pre>`:a`<${A} title="There is no such task." />`}}
    <//>
  <//>`}function wa({id:e,round:t}){let[n,o]=P(),s=n.get("task")??"",[r,i]=_(0),[l,u]=_(null),d={states:s?[`TASK_STATE_${s.toUpperCase()}`]:[],from:r,page_size:100},c=S($=>x(Y`/v1/jobs/${e}/tasks`,d,$),["tasks",e,d,t],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${ve} label="In state" value=${s} onChange=${$=>(i(0),o({task:$}))}
        options=${va} /></div>
    <${U} of=${c} what="Reading the tasks">
      ${$=>a`<${H}
          caption="Tasks"
          rows=${$.tasks}
          rowKey=${f=>f.index??0}
          empty=${a`<${A} title="No task is in that state." />`}
          columns=${[["Task",f=>a`<button type="button" class="plain"
              onClick=${()=>u(f.index??0)}>${y(f.index)}
                <span class="sr-only">: show payload and result</span></button>`,"num"],["State",f=>a`<span class="tag tone-${Sr[j(f.state,"TASK_STATE_")]}">${j(f.state,"TASK_STATE_")}</span>`],["Attempts",f=>y(f.attempts),"num"],["Worker",f=>f.worker?F(f.worker):"–","name"],["Progress",f=>f.progress?a`<${ye} share=${f.progress.fraction} label=${`${Math.round(100*(f.progress.fraction??0))} %`} /> ${f.progress.text}`:"–"],["Failure",f=>f.failure||"–"]]}
        />
        <p class="row end">
          ${r>0&&a`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${$.next>0&&a`<button type="button" onClick=${()=>i($.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&a`<${ya} job=${e} index=${l} onClose=${()=>u(null)} />`}
  </section>`}function Cr({name:e}){re(e);let t=S(d=>x(Y`/v1/jobs/${e}`,{},d),["job",e],{every:15e3}),[n,o]=_(0),s=Be(()=>o(d=>d+1),1e3),[r,i]=_(null),l=()=>{t.refresh(),s(),i(null)},u=t.data?.job;return D(()=>{u&&!u.over&&r===null&&i(u.revision)},[u?.over,r]),De(r!==null?Y`/v1/jobs/${e}:follow`:null,{after_revision:r},{message(d){d.job&&t.set(()=>({job:d.job})),s()},end:l}),t.error?.code==="NOT_FOUND"?a`<${te}>${e}<//>
      <${A} title="There is no job of this id.">It may have been deleted, or kept for its
      time. <a href="/jobs">All jobs</a><//>`:u?a`<${te} aside=${a`<${ba} job=${u} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${Mn(u)}">${Ln(u)}</span><span>${jn(u)}</span></p>
        <${Fn} job=${u} />
        ${u.cancel_text&&a`<p class="note">Cancelled ${u.cancel_text}</p>`}
        <${Se} of=${[["Semaphore",a`<a href=${`/s/${encodeURIComponent(u.spec.semaphore)}`}>${u.spec.semaphore}</a>`],["Submitted",`${M(u.submitted_at)}${u.spec.author?` by ${u.spec.author}`:""}`],["Ended",u.ended_at&&`${M(u.ended_at)}, after ${X(Date.parse(u.ended_at)-Date.parse(u.submitted_at))}`],["Priority",u.spec.priority],["Attempts of a task",u.spec.max_attempts],["Timeout",Me(u.spec.timeout)],["Kept after its end",Me(u.spec.retention)],["Stored",fe(u.bytes)],["Labels",Object.entries(u.spec.labels??{}).map(([d,c])=>`${d}=${c}`).join(", ")]]} />
      </section>
      <${wa} id=${e} round=${n} />
    </div>`:a`<${te}>${e}<//>${t.error&&!t.error.offline?a`<${W} error=${t.error}
      retry=${t.refresh} />`:a`<${_e} what="Reading the job" />`}`}function Dr(){re("Log in");let[e]=P(),[t,n]=_(""),[o,s]=_(null),[r,i]=_(!1),l=e.get("next")??"/";return a`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${te}>Log in to Gatekeeper<//>
    <form onSubmit=${async d=>{d.preventDefault(),i(!0);try{await Oo(t.trim()),me(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(c){s(c),i(!1)}}}>
      <${R}
        label="Bearer token"
        help="From gkctl auth token create. It stays in this browser as a cookie that scripts cannot read, for 12 hours."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&a`<${W} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary"
        disabled=${r||!t.trim()}>${r?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}function Rr({change:e,effects:t,onEnd:n}){let o=le(()=>t.flatMap(m=>m.stopped??[]),[t]),s=le(()=>Date.now(),[e]),[r,i]=_({});Le();let l=o.filter(m=>!r[m.permit.token]),u=[...new Set(l.map(m=>m.permit.semaphore))],d=le(()=>u.length<=40?u:[],[e]),c=m=>m.length&&i(h=>({...Object.fromEntries(m),...h})),$=async()=>{let{items:m}=await xe("/v1/holders",{names:d},"permits",void 0,1e5),h=new Map(m.map(g=>[g.token,g]));c(o.filter(g=>!h.has(g.permit.token)).map(g=>[g.permit.token,{how:"gone",after:Date.now()-s}]))};if(De(o.length?"/v1/watch":null,{names:d,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:m=[]}){let h=new Set(o.map(g=>g.permit.token));c(m.filter(g=>g.permit&&h.has(g.permit.token)&&g.ended).map(g=>[g.permit.token,{how:j(g.ended,"PERMIT_END_"),after:Date.now()-s}]))},missed:()=>$().catch(()=>{})}),D(()=>{o.length&&l.length===0&&n?.()},[l.length]),o.length===0)return a`<p class="lead">No holder had to stop.</p>`;let f=l.filter(m=>Date.now()-s>N(m.free_within)),p=o.length-l.length;return a`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${C(o.length,"holder has","holders have")} stopped.`:`${y(p)} of ${C(o.length,"holder has","holders have")} stopped.`}
      ${f.length>0&&a` <strong>${C(f.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${ye} share=${p/o.length} tone=${f.length?"stop":"run"}
      label=${`${p} of ${o.length} stopped`} />
    <${H}
      caption="Holders that must stop"
      rows=${[...f,...l.filter(m=>!f.includes(m)),...o.filter(m=>r[m.permit.token])].slice(0,600)}
      rowKey=${m=>m.permit.token}
      columns=${[["Semaphore",m=>a`<a href=${`/s/${encodeURIComponent(m.permit.semaphore)}`}>${m.permit.semaphore}</a>`,"name"],["Holder",m=>F(m.permit.identity),"name"],["Token",m=>m.permit.token,"num"],["Now",m=>{let h=r[m.permit.token];if(h)return a`<span class="tone-run">${h.how} after ${X(h.after)}</span>`;let g=s+N(m.free_within)-Date.now();return g>0?a`<span class="tone-wait">stops
            within <span class="num">${ot(g)}</span></span>`:a`<span class="tone-deny">did
            not stop in time</span>`}]]}
    />
  </section>`}var at=100,Un=(e,t)=>{let n=[];for(let o=Math.floor(e/at);o<=Math.floor(Math.max(e,t-1)/at);o++)n.push(o);return n},Or=e=>({...e,deadline:e.holder?.expires_in?Date.now()+N(e.holder.expires_in):0}),ka=e=>Math.max(Number(e.version),Number(e.permit_revision??0));function Ir(e){let t=JSON.stringify(e),n=K(qe),[,o]=_(0),s=()=>o(p=>p+1),r=le(()=>({pages:new Map,revisions:new Map,asked:new Map,total:void 0,window:[0,1],round:0}),[t]),i=V(0),l=V(r);l.current=r;let u=(p,m)=>{if(!m&&(r.pages.has(p)||r.asked.has(p)))return;r.asked.get(p)?.abort();let h=new AbortController;r.asked.set(p,h);let g=performance.now();x("/v1/definitions",{...e,page_size:at,skip:p*at},h.signal).then(b=>{if(l.current!==r)return;r.asked.delete(p),r.error=void 0,i.current=performance.now()-g;let w=new Map((r.pages.get(p)??[]).map(E=>[E.definition.name,E]));r.pages.set(p,(b.records??[]).map(E=>{let O=w.get(E.definition.name);return O&&ka(O)>Number(b.revision)?O:Or(E)})),r.revisions.set(p,Number(b.revision)),r.round++,r.total=b.total??(b.records??[]).length,s()},b=>{h.signal.aborted||l.current!==r||(r.asked.delete(p),r.error=b,s())})},d=(p,m)=>{r.window=[p,m];let h=Un(p,m);for(let[g,b]of r.asked)h.includes(g)||(b.abort(),r.asked.delete(g));for(let g of h)u(g)},c=()=>{let p=Un(...r.window);for(let m of r.pages.keys())p.includes(m)||r.pages.delete(m);for(let m of p)u(m,!0)},$=V(c);$.current=c,D(()=>(u(0),()=>r.asked.forEach(p=>p.abort())),[t]),D(()=>{n&&$.current()},[n]),D(()=>{let p=setInterval(()=>document.hidden||$.current(),Ft(i.current));return()=>clearInterval(p)},[t,r.round]);let f=p=>{let m=!1;for(let h of r.pages.values())h.forEach((g,b)=>{h[b]=p(g),m||=h[b]!==g});m&&s()};return{at:p=>r.pages.get(Math.floor(p/at))?.[p%at],total:r.total,error:r.error,want:d,since:(p,m)=>Math.min(...Un(p,m).map(h=>r.revisions.get(h)??1/0)),refresh:c,alter:f,update(p){let m=new Map(p.map(h=>[h.definition.name,Or(h)]));f(h=>m.get(h.definition.name)??h)}}}var Ar=8,en=4;function Nr({total:e,height:t,row:n,range:o,open:s,label:r,head:i,columns:l}){let u=V(null),[d,c]=_([0,30]),[$,f]=_(0),p=V(!1);pt(()=>{let k=0,I=()=>{k=0;let B=u.current?.getBoundingClientRect();if(!B)return;let z=Math.max(0,Math.floor(-B.top/t/en)*en-Ar),J=Math.min(e,Math.ceil((innerHeight-B.top)/t/en)*en+Ar);c(ee=>ee[0]===z&&ee[1]===J?ee:[z,Math.max(z,J)])},q=()=>k||=requestAnimationFrame(I);I(),addEventListener("scroll",q,{passive:!0}),addEventListener("resize",q);let Q=new ResizeObserver(q);return Q.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",q),removeEventListener("resize",q),Q.disconnect()}},[e,t]),D(()=>{o?.(d[0],d[1])},[d[0],d[1],e]),pt(()=>{if(!p.current)return;let k=u.current?.querySelector(`[data-row="${$}"]`);k&&(p.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let m=Math.min($,Math.max(0,e-1)),h=k=>{if(e===0)return;p.current=!0,f(Math.max(0,Math.min(e-1,k)));let I=u.current.getBoundingClientRect().top+scrollY+k*t;(I<scrollY||I>scrollY+innerHeight)&&scrollTo(0,Math.max(0,I-innerHeight/2))},g=Math.max(1,Math.floor(innerHeight/t)-4),b={ArrowDown:()=>h(m+1),ArrowUp:()=>h(m-1),PageDown:()=>h(m+g),PageUp:()=>h(m-g),Home:()=>h(0),End:()=>h(e-1),Enter:()=>s?.(m)},w=k=>{!b[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),b[k.key]())},E=k=>{let I=k.target.closest("[data-row]");I&&f(Number(I.dataset.row))};D(()=>{let k=()=>h(m);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let O=[];for(let k=d[0];k<Math.min(d[1],e);k++)O.push(k);return e>0&&(m<d[0]||m>=d[1])&&O.push(m),a`<div class="grid" role="grid" aria-label=${r} aria-rowcount=${e+1} aria-colcount=${l}
    onKeyDown=${w} onFocusIn=${E}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${u} style=${{height:`${e*t}px`}}>
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
  </div>`}function Kn(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var Wn=e=>e.value.slice(17).toLowerCase();function Ea({counts:e,total:t}){let[n,o]=P(),s=n.getAll("state"),r=i=>o({state:s.includes(i)?s.filter(l=>l!==i):[...s,i]});return a`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${s.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":y(t)}</span><span class="stat-w">all</span>
    </button>
    ${Ht.map(i=>{let l=e?.get(i.value);return a`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${s.includes(Wn(i))}
        title=${i.help}
        onClick=${()=>r(Wn(i))}
      >
        <span class="stat-n num">${e?y(l):"–"}</span><span class="stat-w">
        <${kt} value=${i.value} text=${Wn(i)} /></span>
      </button>`})}
  </div>`}var xa=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function Ta({labels:e}){let[t,n]=P(),o=t.get("labels")??"",[s,r]=ke(o,c=>n({labels:c}),400),[i,l]=_(""),u=e?.find(c=>c.key===i)?.values??[],d=c=>{c&&(n({labels:[o,c==="*"?i:`${i}=${xa(c)}`].filter(Boolean).join(",")}),l(""))};return a`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${s} placeholder="team=data,tier!=test" onInput=${c=>r(c.target.value)}
        autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&a`<${ve} label="Add a label" value=${i} onChange=${l}
      options=${[["","Label …"],...e.map(c=>[c.key,c.key])]} />
      ${i&&a`<${ve} label="Value" value="" onChange=${d}
        options=${[["","Value …"],["*","any value"],...u.map(c=>[c.value,`${c.value} (${y(c.count)})`])]} />`}`}`}function Sa({summary:e,shown:t}){let[n,o]=P(),[s,r]=ke(n.get("q")??"",p=>o({q:p})),[i,l]=ke(n.get("group")??"",p=>o({group:p}),400),u=["q","group","labels","state"].filter(p=>n.get(p)),d=S(p=>xe("/v1/known",{},"callers",p),["known"]),c=[...new Set((d.data?.items??[]).map(p=>p.group))].sort(),$=Wt("(min-width: 60rem)");return a`<form class="filters" role="search" onSubmit=${p=>p.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${s} placeholder="Words of name, description or label"
        onInput=${p=>r(p.target.value)} onKeyDown=${p=>{p.key!=="ArrowDown"&&p.key!=="Enter"||(p.preventDefault(),dispatchEvent(new Event("enter-list")))}} autocomplete="off" spellcheck=${!1} />
    </div>
    <details class="more-filters" open=${$||u.some(p=>p==="group"||p==="labels")}>
      <summary>Filters</summary>
      <div class="filters-in">
        <div class="field">
          <label for="group">Lets in group</label>
          <input id="group" value=${i} list="groups" placeholder="any" onInput=${p=>l(p.target.value)}
            autocomplete="off" spellcheck=${!1} />
          <datalist id="groups">${c.map(p=>a`<option value=${p} />`)}</datalist>
        </div>
        <${Ta} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${u.length>0&&a`<button type="button"
        onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause</a>
    </p>
  </form>`}var Hn=["State","Semaphore","In use","Holder","Time left","Queue","Lets in group"],Bn=class extends nt{shouldComponentUpdate(t){return t.record!==this.props.record}render({record:t}){return a`<${Ca} record=${t} />`}};function Ca({record:e}){if(!e)return a`<span class="row-loading" role="gridcell" aria-colspan=${Hn.length}>Reading …</span>`;let t=e.definition,n=e.holder,o=(e.holders??0)-1,s=Bt(e)[0],r=`/s/${encodeURIComponent(t.name)}`,i=Number(e.used??0),l=t.permits??0,u=e.waiters??0;return a`
    <span class="c-state" role="gridcell"><${pr} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${r} tabindex="-1">${t.name}</a>
      <span class="sub">${s??t.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${ye} share=${l?i/l:i?1:0} tone=${i>l?"deny":"accent"}
        label="${i} of ${l} permits in use" />
      <span>${y(i)}<span class="faint"> / ${y(l)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${n?a`<span class="clip">${F(n.identity)}</span>
          <span class="sub">for <${ie} at=${n.granted_at} />${o>0&&` and ${y(o)} more`}</span>`:a`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${n?a`<${Kt} at=${e.deadline}
      of=${N(n.duration)} />`:a`<span class="faint">–</span>`}</span>
    <span class="c-queue num"
      role="gridcell">${u?a`<span class="tag tone-wait">${y(u)}</span>`:a`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${t.group_pattern}</code></span>`}var Da=6e3;function Mr(){re("Overview");let[e]=P(),t=Kn(e),n=Ir(t),o=Wt("(max-width: 47.99rem)"),s=Wt("(max-width: 63.99rem)"),r=o?104:s?76:52,{search:i,group:l,labels:u}=t,[d,c]=_(1e4),$=S(async I=>{let q=performance.now(),Q=await x("/v1/definitions:summarize",{search:i,group:l,labels:u},I);return c(Ft(performance.now()-q)),Q},["summary",i,l,u],{every:d,keep:!0}),f=le(()=>$.data&&new Map(($.data.states??[]).map(I=>[I.state,I.count])),[$.data]),[p,m]=_({names:[]}),h=V([0,0]),g=Be(()=>{let[I,q]=h.current,Q=[],B=0;for(let z=I;z<q&&B<Da;z++){let J=n.at(z)?.definition.name;J&&(Q.push(J),B+=J.length+8)}m(z=>z.names.join(`
`)===Q.join(`
`)?z:{names:Q,from_revision:n.since(I,q)+1})},150),b=(I,q)=>{h.current=[I,q],n.want(I,q),g()};D(g),De(p.names.length?"/v1/watch":null,{...p,permits:!0,records:!0,live_every:"2s"},{open:I=>I&&n.refresh(),missed:n.refresh,message({records:I=[],undefined:q=[]}){n.update(I),q.length&&n.refresh()},live(I){let q=new Map((I.live.semaphores??[]).map(B=>[B.semaphore,B])),Q=Date.now();n.alter(B=>{if(!p.names.includes(B.definition.name))return B;let z=q.get(B.definition.name),J=z?.waiters??0,ee=z?.deadlines?.find(pe=>pe.token===B.holder?.token)?.expires_in,v=ee?Q+N(ee):B.deadline;return J===(B.waiters??0)&&Math.abs(v-B.deadline)<200?B:{...B,waiters:J,deadline:v}})}});let w=I=>{let q=n.at(I);q&&me(`/s/${encodeURIComponent(q.definition.name)}`)},E=n.total,O=E===void 0?"…":C(E,"semaphore","semaphores"),k=le(()=>a`<${te} aside=${a`<${Ra} />`}>Overview<//>
      <${Ge} />
      <${Ea} counts=${f} total=${$.data&&($.data.total??0)} />
      <${Sa} summary=${$.data} shown=${O} />`,[f,$.data,O]);return a`${k}
    ${n.error&&!n.error.offline&&a`<${W} error=${n.error} retry=${n.refresh} />`}
    ${E===void 0?!n.error&&a`<${_e} what="Reading the semaphores" />`:E===0?a`<${Oa} filtered=${[...e].length>0} />`:a`<${Nr}
            label="Semaphores"
            total=${E}
            height=${r}
            columns=${Hn.length}
            range=${b}
            open=${w}
            head=${Hn.map(I=>a`<span role="columnheader">${I}</span>`)}
            row=${I=>a`<${Bn} record=${n.at(I)} />`}
          />`}`}function Ra(){let[e,t]=_(!1),[n,o]=_("");return a`<${L} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&a`<${ae} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${r=>{r.preventDefault(),n.trim()&&me(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${R} label="Name" value=${n} onInput=${o} maxlength="256" required
          help="As callers ask for it. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button>
        <button class="primary">Write its rule …</button></p>
      </form>
    <//>`}`}function Oa({filtered:e}){return e?a`<${A} title="No semaphore matches.">Remove a filter to see more.<//>`:a`<${A} title="There are no semaphores yet.">Create the first one with <code>gkctl apply -f FILE</code>,
    or give gatekeeperd a file by <code>--definitions</code>.<//>`}var Ia=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],Lr=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function Fr(){let[e,t]=P(),[n,o]=_(e.getAll("names").join(`
`)),[s,r]=_(e.get("labels")??""),[i,l]=_(e.get("all")==="1"),[u,d]=_(null),c=Kn(e),$=e.get("from_filter")==="1"&&(c.search||c.group||c.states.length>0);D(()=>{$&&xe("/v1/definitions",c,"records",void 0,1e3).then(({items:p,more:m})=>{o(p.map(h=>h.definition.name).join(`
`)),r(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),m&&d(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},d)},[]);let f=i?{all:!0}:{...Lr(n).length&&{names:Lr(n)},...s.trim()&&{labels:s.trim()}};return{names:n,setNames:o,labels:s,setLabels:r,everything:i,setEverything:l,selector:f,error:u,given:i||n.trim()!==""||s.trim()!==""}}function Pr({of:e,optional:t}){let n=S(e.given?r=>x("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:4},r):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],s=n.data?.total??0;return a`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${R} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything}
        placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${R} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything}
        placeholder="team=data,tier!=test" help="Names and labels must both match." />
      <${ue} label="Every semaphore" checked=${e.everything} onChange=${e.setEverything} />
    </div>
    ${e.error&&a`<${W} error=${e.error} />`}
    ${n.error&&!n.error.offline&&a`<${W} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${C(s,"semaphore","semaphores")} chosen${o.length?`: ${He(o.map(r=>r.definition.name),4)}${s>4?" …":""}`:""}`:"Reading …":t??"Choose some, or every one."}
    </p>
  </fieldset>`}function zn({of:e,onAgain:t}){return a`<section class="panel stack" aria-label="What was done">
    <h2>${e.text}</h2>
    <${Rr} key=${e.change} change=${e.change} effects=${e.effects} />
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Change ${e.change}</a>
      <${L} role=${e.role} onClick=${()=>et(e.change)}>Undo …<//>
      <button type="button" onClick=${t}>Another one</button>
    </p>
  </section>`}function Vn(){let[e,t]=_(null);return[e,(o,s)=>(r,i)=>{let l=r.change??r.revision??r.cordon?.revision;l&&l!=="0"&&t({text:o,role:s,change:l,effects:r.effects?.length?r.effects:i.effects??[]})},()=>t(null)]}function qr({id:e}){let t=S(o=>xe("/v1/known",{},"callers",o,5e3),["known"]),n=[...new Set((t.data?.items??[]).map(o=>o.group))].sort();return a`<datalist id=${e}>${n.map(o=>a`<option value=${o} />`)}</datalist>`}function Aa({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return a`
    <p class="lead">${e.moves?.length?`${C(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&a`<span class="faint"> ${y(n)} need no move.</span>`}</p>
    ${e.mistake&&a`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&a`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p>
        <ul>${e.doubts.map(o=>a`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&a`<div class="warnings">
      <p>${C(t.length,"semaphore has","semaphores have")} to be moved by hand:</p>
      <ul>${t.slice(0,20).map(o=>a`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function Na(){let e=Fr(),[t]=P(),[n,o]=_({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[s,r]=_(!1),[i,l,u]=Vn(),d=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...Oe(n.drain),...$e()}),c=!n.from.trim()||!n.to.trim()?"Say from which group to which.":Ie(()=>Oe(n.drain));return i?a`<${zn} of=${i} onAgain=${u} />`:a`<form class="stack" onSubmit=${$=>($.preventDefault(),c||r(!0))}>
    <fieldset class="panel">
      <legend>From where to where</legend>
      <div class="form">
        <${R} label="From group" value=${n.from} onInput=${$=>o({...n,from:$})}
          list="move-groups" required />
        <${R} label="To group" value=${n.to} onInput=${$=>o({...n,to:$})} list="move-groups" required />
        <${Je} value=${n} set=${o} />
        <${qr} id="move-groups" />
      </div>
    </fieldset>
    <${Pr} of=${e} optional="Every semaphore that admits the old group, and not the new one. Choose fewer by names or labels." />
    <p class="row end"><${L} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${c}>Preview the move …<//></p>
    ${s&&a`<${Z}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${$=>`Move ${C($.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async $=>T("/v1/move",{...d(),dry_run:!0},$)}
      extra=${$=>a`<${Aa} of=${$} />`}
      nothing=${$=>$.moves?.length?"":$.mistake||"There is nothing to move."}
      run=${async($,f)=>T("/v1/move",{...d(),expected:f.digest,...$})}
      done=${$=>`${C($.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${l(`Moved from ${n.from} to ${n.to}`,"ROLE_OPERATOR")}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function jr({resume:e}){let t=Fr(),[n,o]=_({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[s,r]=_(!1),[i,l,u]=Vn(),d=()=>e?{selector:t.selector}:{selector:t.selector,...Re(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...Oe(n.drain)}},c=t.given?Ie(()=>(Re(n),Oe(n.drain))):"Choose some semaphores first.";if(i)return a`<${zn} of=${i} onAgain=${u} />`;let $=e?"resume":"pause";return a`<form class="stack" onSubmit=${f=>(f.preventDefault(),c||r(!0))}>
    <${Pr} of=${t} />
    ${!e&&a`<fieldset class="panel">
      <legend>How long, and what becomes of running work</legend>
      <div class="form">
        <${je} value=${n} set=${o} without="Empty: until it is resumed." />
        <${ue} label="Stop holders too" checked=${n.stop} onChange=${f=>o({...n,stop:f})}
          help="Otherwise running work continues to its end." />
        ${n.stop&&a`<${Je} value=${n} set=${o} />`}
        <${ue} label="Leave paused ones as they are" checked=${n.keep} onChange=${f=>o({...n,keep:f})}
          help="Otherwise this pause replaces theirs, also when it ends." />
      </div>
    </fieldset>`}
    <p class="row end"><${L} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${c}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${s&&a`<${Z}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async f=>T("/v1/preview",{[$]:d()},f)}
      run=${async(f,p)=>T(`/v1/${$}`,{...d(),expected:p.digest,...f})}
      done=${f=>`${C(f.names?.length??0,"semaphore","semaphores")} ${$}d.`}
      onDone=${(f,p)=>l(`${C(f.names?.length??0,"semaphore","semaphores")} ${$}d`,"ROLE_OPERATOR")(f,p)}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function Ma(){let[e]=P(),[t,n]=_({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,s]=_(!1),[r,i,l]=Vn(),u=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...Re(t),...Oe(t.drain)}),d=!t.group.trim()&&!t.acquirer.trim()?"Say whom to shut out.":Ie(()=>u());return r?a`<${zn} of=${r} onAgain=${l} />`:a`<form class="stack" onSubmit=${c=>(c.preventDefault(),d||s(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Whom, and for how long</legend>
      <div class="form">
        <${R} label="Group pattern" value=${t.group} onInput=${c=>n({...t,group:c})} list="cordon-groups"
          help="A caller is caught when either pattern matches." />
        <${R} label="Acquirer pattern" value=${t.acquirer} onInput=${c=>n({...t,acquirer:c})}
          placeholder="host-3" />
        <${je} value=${t} set=${n} without="Empty: until it is ended." />
        <${Je} value=${t} set=${n} />
        <${qr} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${L} role="ROLE_OPERATOR" type="submit" kind="primary"
      why=${d}>Preview the cordon …<//></p>
    ${o&&a`<${Z}
      title="Cordon"
      verb="Cordon"
      role="ROLE_OPERATOR"
      preview=${async c=>T("/v1/preview",{cordon:u()},c)}
      run=${async c=>T("/v1/cordon",{...u(),...c})}
      done=${c=>`Cordon ${c.cordon?.id} is in force.`}
      onDone=${(c,$)=>i(`Cordon ${c.cordon?.id} is in force`,"ROLE_OPERATOR")(c,$)}
      onClose=${()=>s(!1)}
    />`}
  </form>`}function Ur(){re("Move and pause");let[e]=P(),t=e.get("do")??"move";return a`<${te}>Move and pause<//>
    <${Ge} />
    <${st} of=${Ia} query="do" label="What to do" />
    ${t==="pause"?a`<${jr} key="pause" />`:t==="resume"?a`<${jr} key="resume" resume />`:t==="cordon"?a`<${Ma} />`:t==="move"?a`<${Na} />`:a`<${A} title="There is no such form." />`}`}var Wr=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:He(e.names??[]),Hr=e=>e.names?.length===1?e.names[0]:"";function Br({selector:e,onClose:t,onDone:n}){let[o,s]=_({lasts:"",until:"",stop:!1,drain:""}),r=()=>({selector:e,...Re(o),...o.stop?{stop:!0,...Oe(o.drain)}:{}});return a`<${Z}
    title=${`Pause ${Wr(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${Hr(e)}
    deps=${o}
    preview=${async i=>T("/v1/preview",{pause:r()},i)}
    run=${async(i,l)=>T("/v1/pause",{...r(),expected:l.digest,...i})}
    done=${i=>`${C(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. The queue keeps its places.</p>
    <div class="form">
      <${je} value=${o} set=${s} without="Empty: until it is resumed." />
      <${ue} label="Stop holders too" checked=${o.stop} onChange=${i=>s({...o,stop:i})}
        help="Otherwise running work continues to its end." />
      ${o.stop&&a`<${Je} value=${o} set=${s} />`}
    </div>
  <//>`}function Kr({selector:e,onClose:t,onDone:n}){return a`<${Z}
    title=${`Resume ${Wr(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${Hr(e)}
    preview=${async o=>T("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,s)=>T("/v1/resume",{selector:e,expected:s.digest,...o})}
    done=${o=>o.names?.length?`${C(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function zr({name:e}){let[t,n]=P(),o={group:t.get("group")??"",acquirer:t.get("acquirer")??"",weight:t.get("weight")??"",worker:t.get("worker")??""},[s,r]=_(o),l=S(f=>x("/v1/known",{page_size:1e3},f),["known"]).data?.callers??[],u={identity:{group:o.group,acquirer:o.acquirer},...o.weight&&{weight:Number(o.weight)},...o.worker&&{worker:!0}},d=S(o.acquirer?f=>T(Y`/v1/semaphores/${e}:explain`,u,f):null,["explain",e,o],{keep:!0,every:5e3}),c=f=>{f.preventDefault(),n(s),d.refresh()},$=f=>p=>r({...s,[f]:p});return a`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${c}>
      <${R} label="Group" value=${s.group} onInput=${$("group")} list="known-groups" placeholder="default"
        help="Where the caller runs: a zone, a site." />
      <${R} label="Acquirer" value=${s.acquirer} onInput=${$("acquirer")} list="known-acquirers" required
        help="Who asks, normally a host." />
      <${R} label="Weight" type="number" min="1" value=${s.weight} onInput=${$("weight")} placeholder="1" />
      <${ue} label="It is a worker" checked=${s.worker==="1"} onChange=${f=>$("worker")(f?"1":"")}
        help="It asks for a task." />
      <datalist id="known-groups">${[...new Set(l.map(f=>f.group))].map(f=>a`<option value=${f} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(l.map(f=>f.acquirer))].map(f=>a`<option value=${f} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${d.error&&!d.error.offline&&a`<${W} error=${d.error} />`}
    ${o.acquirer&&!d.data&&!d.error&&a`<${_e} what="Asking" />`}
    ${d.data&&a`<${La} of=${d.data} />`}
  </section>`}function La({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return a`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}">
    <strong>${t?"It would get a permit.":`Denied: ${j(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&a`<p class="note">Nothing is granted for another ${Math.ceil(N(e.recovering)/1e3)} s: a
      recovery of the cluster is being waited out.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>a`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}">
        <span aria-hidden="true">${n.passed?"✓":"✗"}</span>
        <span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&a`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>a`${o?", ":""}${F(n.identity)} for <${ie} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${y(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&a`<p>${C(e.waiter_count,"caller waits","callers wait")} in the queue.</p>`}
    ${e.why_tasks_wait&&a`<p>${e.why_tasks_wait}</p>`}
  </div>`}var ja={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function Fa(e,t){let n="",o,s=[];do o=await x("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),s.push(...o.firings??[]),n=o.next_page_token??"";while(n&&s.length<2e4);return{...o,firings:s.reverse()}}function Vr({name:e,events:t}){let n=S(u=>Fa(e,u),["firings",e,t],{keep:!0}),[o,s]=_(null),[r,i]=_(100),l=o&&{semaphore:e,firings:[o.firing],...$e()};return a`<section class="panel">
    <h2>Firings</h2>
    <${U} of=${n} what="Reading the firings">
      ${u=>a`
        <p class="faint">${y(u.count)} remembered, at
        most ${y(u.limit)}.${u.forgotten_up_to&&` Those due until ${M(u.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${H}
          caption="Firings"
          rows=${u.firings.slice(0,r)}
          rowKey=${d=>ze(d.firing)}
          empty=${a`<${A} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing
            does, is remembered here.<//>`}
          columns=${[["Firing",d=>ze(d.firing),"name"],["State",d=>a`<span class="tag tone-${ja[j(d.state,"FIRING_STATE_")]??"idle"}">${j(d.state,"FIRING_STATE_")}</span>`],["Who",d=>d.winner?F(d.winner):"–","name"],["Claimed at",d=>M(d.claimed_at)||"–","num"],["Attempts",d=>y(d.attempts),"num"],["Failure",d=>d.failure||"–"],["",d=>a`<${L} role="ROLE_OPERATOR" semaphore=${e}
              onClick=${()=>s(d)}>Forget …<//>`,"end"]]}
        />
        ${u.firings.length>r&&a`<button type="button" onClick=${()=>i(r*5)}>Show more</button>`}`}
    <//>
    ${o&&a`<${Z}
      title=${`Forget ${ze(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${u=>T("/v1/firings:forget",{...l,dry_run:!0},u)}
      run=${(u,d)=>T("/v1/firings:forget",{...l,plan:d.plan,...u})}
      done=${()=>`${ze(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>s(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function Jr({name:e,events:t,onChange:n}){let[o,s]=P(),r=o.get("permits")==="1",[i,l]=_(50),u=S(d=>x("/v1/history",{names:[e],permits:r,page_size:i},d),["history",e,r,i,t],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>History</h2>
      <${ue} label="Also how permits ended" checked=${r}
        onChange=${d=>s({permits:d?"1":""})} />
    </div>
    <${U} of=${u} what="Reading the journal">
      ${d=>a`
        ${d.entries?.length?a`<${yt} entries=${d.entries} semaphore=${e}
          onChange=${n} />`:a`<${A} title="The journal has nothing of it." />`}
        ${d.next_page_token&&i<1e3&&a`<p class="row"><button type="button"
            onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var Jn=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],Gn=4,Gr=12,Pa={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function Qr({name:e,permits:t,events:n}){let[o,s]=P(),r=Jn.find(([u])=>u===o.get("span"))??Jn[0];Le();let i=Date.now()-r[1],l=S(u=>x("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-r[1]).toISOString(),page_size:1e3},u),["timeline",e,r[0],n],{keep:!0});return a`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${Jn.map(([u])=>a`<button type="button" key=${u} aria-pressed=${u===r[0]} onClick=${()=>s({span:u==="1h"?"":u})}>${u}</button>`)}
      </div>
    </div>
    <${U} of=${l} what="Reading the journal">
      ${u=>a`<${qa} entries=${u.entries??[]} permits=${t} from=${i} to=${Date.now()}
        more=${u.next_page_token} />`}
    <//>
  </section>`}function qa({entries:e,permits:t,from:n,to:o,more:s}){let r=[...t.map(c=>({who:F(c.identity),from:Date.parse(c.granted_at),to:o,how:"holds it now",tone:c.stop?"stop":"accent",token:c.token})),...e.filter(c=>c.permit&&c.kind!=="EVENT_KIND_GRANTED"&&c.permit.granted_at).map(c=>{let $=j(c.permit.ended,"PERMIT_END_")||j(c.kind,"EVENT_KIND_");return{who:F(c.permit.identity),from:Date.parse(c.permit.granted_at),to:Date.parse(c.permit.ended_at??c.at),how:$,tone:Pa[$]??"idle",token:c.permit.token}})],i=new Set,l=new Map;for(let c of r)i.has(c.token)||c.to<n||(i.add(c.token),l.set(c.who,[...l.get(c.who)??[],c]));if(l.size===0)return a`<${A} title="Nobody held it in this time." />`;let u=c=>1e3*(Math.max(c,n)-n)/(o-n),d=e.filter(c=>!c.permit&&Date.parse(c.at)>=n);return a`<div class="timeline">
    ${[...l].slice(0,Gr).map(([c,$])=>{let f=$[0],p=`${c}: ${C($.length,"permit","permits")}, the last from ${M(f.from)}, ${f.how}`;return a`<div class="lane" key=${c}>
        <span class="lane-name">${c}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${p}>
          <rect class="track" width="1000" height="18" />
          ${$.map(m=>a`<rect key=${m.token} class="fill-${m.tone}" x=${u(m.from)} y="2" height="14" width=${Math.max(1.5,u(m.to)-u(m.from))}>
            <title>${`${m.who}: ${M(m.from)}, ${m.how} after ${X(m.to-m.from)}, token ${m.token}`}</title>
          </rect>`)}
          ${d.map(m=>a`<line key=${m.revision} class="mark" x1=${u(Date.parse(m.at))} x2=${u(Date.parse(m.at))} y1="0" y2="18"><title>${`${j(m.kind,"EVENT_KIND_")} by ${m.author??"–"} at ${M(m.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:Gn+1},(c,$)=>a`<span key=${$}>${$===Gn?"now":rt(n+(o-n)*$/Gn).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>Gr||s)&&a`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history
        has all of it.</a></p>`}
  </div>`}function Ua({permit:e,onClose:t,onDone:n}){let[o,s]=_({reason:"",drain:"",unsafe:!1}),[r,i]=_(null),[l,u]=_(!1);return a`<${ae} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async c=>{if(c.preventDefault(),!l){u(!0);try{let $={reason:o.reason,...$e()};o.drain.trim()&&($.drain=we(o.drain)),o.unsafe&&($.unsafe_now=!0),await T(Y`/v1/permits/${e.token}:revoke`,$),be(`The permit of ${F(e.identity)} is revoked.`),n(),t()}catch($){i($),u(!1)}}}}>
      <p>${F(e.identity)} must stop. Its refreshes are refused from now on, and its slot is free when it
      releases, or at its deadline.</p>
      <${R} label="Reason" value=${o.reason} onInput=${c=>s({...o,reason:c})} maxlength="1024" />
      <${R} label="Drain" placeholder="2m" value=${o.drain} onInput=${c=>s({...o,drain:c})}
        error=${Ie(()=>we(o.drain))} help="How long it may continue. Empty: not at all." />
      <${ue} label="Free the slot at once" checked=${o.unsafe} onChange=${c=>s({...o,unsafe:c})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${W} error=${r} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function Wa({permit:e,onClose:t,onDone:n}){let[o,s]=_(""),[r,i]=_(null);return a`<${ae} title="Clear a slot" onClose=${t}>
    <form onSubmit=${u=>{u.preventDefault(),T(Y`/v1/permits/${e.token}:clear`,{reason:o,...$e()}).then(()=>{be("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${F(e.identity)} expired, and its slot is held. Clear it when you know that its job
      does not run any more.</p>
      <${R} label="Reason" value=${o} onInput=${s} maxlength="1024" />
      <${W} error=${r} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button>
      <button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var Ha=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function Ba({permits:e,onChange:t}){let[n,o]=_(null),s=()=>o(null);return a`<section class="panel">
    <h2>Holders</h2>
    <${H}
      caption="Holders"
      rows=${e}
      rowKey=${r=>r.token}
      empty=${a`<${A} title="Nobody holds a permit." />`}
      columns=${[["Holder",r=>a`${F(r.identity)}${r.identity?.holder_id&&a`<div class="sub">${r.identity.holder_id}</div>`}`,"name"],["State",r=>a`<span class="tone-${Ko(r)}">${Bo(r)}</span>`],["Since",r=>a`<${ie} at=${r.granted_at} />`,"num"],["Time left",r=>a`<${Kt} at=${r.deadline} of=${N(r.duration)} />`,"num"],["Weight",r=>y(r.weight),"num"],["Token",r=>r.token,"num"],["For",r=>[ze(r.firing),Ha(r.metadata)].filter(Boolean).join("; ")||"–"],["",r=>r.state==="PERMIT_STATE_HELD"?a`<${L} role="ROLE_OPERATOR" semaphore=${r.semaphore}
              onClick=${()=>o({clear:r})}>Clear …<//>`:r.state==="PERMIT_STATE_COOLING"?null:a`<${L} role="ROLE_OPERATOR" semaphore=${r.semaphore} group=${r.identity?.group}
                acquirer=${r.identity?.acquirer} onClick=${()=>o({revoke:r})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&a`<${Ua} permit=${n.revoke} onClose=${s} onDone=${t} />`}
    ${n?.clear&&a`<${Wa} permit=${n.clear} onClose=${s} onDone=${t} />`}
  </section>`}function Ka({data:e}){let t=n=>new Date(e.at-N(n.waiting)).toISOString();return a`<section class="panel">
    <h2>Queue</h2>
    <${H}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${a`<${A} title="Nobody waits." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>F(n.identity),"name"],["Weight",n=>y(n.weight),"num"],["Waiting for",n=>a`<${ie} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More wait than are shown here."}
    />
    ${(e.tasks??[]).map(n=>a`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${y(n.tasks)} tasks
        wait for a worker.</p>`)}
  </section>`}var za=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function Va({rows:e,caption:t}){return a`<${H}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${F(n.identity)}`}
    columns=${[["Caller",n=>F(n.identity),"name"],["Why",n=>a`${n.message}
        <div class="sub">${j(n.reason,"REASON_")}${n.let_in&&`; ${F(n.let_in)} was let in, so it may be a standby`}${n.cured&&"; would not be denied now"}</div>`],["Times",n=>y(n.count),"num"],["Last",n=>a`<span title=${M(n.last)}><${ie} at=${n.last} /> ago</span>`,"num"],["",n=>a`<a href=${n.semaphore?za(n):void 0}>Explain</a>`,"end"]]}
  />`}function Ja({name:e,events:t}){let n=S(o=>x("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return a`<section class="panel">
    <h2>Denied</h2>
    <${U} of=${n} what="Reading who was denied">
      ${o=>a`
        ${o.callers?.length?a`<${Va} rows=${o.callers} caption="Callers that were denied" />`:a`<${A} title="Nobody is denied.">Callers show here when waiting does not help
            them${o.since?`; remembered since ${M(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&a`<h3>They may mean this semaphore</h3>
          <ul>${o.misspelled.map(s=>a`<li>${F(s.identity)} asks for <code>${s.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function Yr({name:e,of:t}){return a`<div class="stack">
    <${U} of=${t.holders}
      what="Reading who holds it">${n=>a`<${Ba} permits=${n} onChange=${t.read} />`}<//>
    <${Qr} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${U} of=${t.waiters} what="Reading the queue">${n=>a`<${Ka} data=${n} />`}<//>
      <${Ja} name=${e} events=${t.events} />
    </div>
  </div>`}function tn(e={}){let t={};for(let n of he){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(s=>o[s]===""?s:`${s}=${o[s]}`).join(`
`);break;case"duration":t[n.name]=Me(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=Ke(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function Xr(e,t={}){let n={...t},o={};for(let s of he){let r=e[s.name]??"";try{let i=Ga(s,r);i===void 0?delete n[s.name]:n[s.name]=i}catch(i){o[s.name]=i.message}}return{definition:n,errors:o}}function Ga(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(s=>s.trim()).filter(Boolean)){let s=o.indexOf("="),r=(s<0?o:o.slice(0,s)).trim();if(!r)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,r))throw new Error(`The key ${r} stands here twice.`);Object.defineProperty(n,r,{value:s<0?"":o.slice(s+1).trim(),enumerable:!0})}return n}case"duration":return we(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function Zr(e,t,n){let o={},s=[],r=[];for(let i of he){let[l,u,d]=[e[i.name],t[i.name],n[i.name]];o[i.name]=u===l?d:u,u!==l&&d!==l&&u!==d&&(s.push(i.name),o[i.name]=d),(u!==l||d!==l)&&r.push({field:i,base:l,mine:u,theirs:d})}return{merged:o,conflicts:s,rows:r}}function es({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:s,conflicts:r,rows:i}=e,[l,u]=_({}),d=r.filter(f=>!l[f]),c=()=>{let f={...e.merged};for(let p of i)l[p.field.name]&&(f[p.field.name]=p[l[p.field.name]]);n(f)},$=f=>{let p=f.field.name;if(!r.includes(p))return f.mine===f.theirs?a`<${Gt}>the same<//>`:f.mine!==f.base?a`<${Gt} tone="accent">yours<//>`:a`<${Gt} tone="wait">theirs<//>`;let m=(h,g)=>a`<label class="radio">
      <input type="radio" name=${`keep-${p}`} checked=${l[p]===h}
        onChange=${()=>u({...l,[p]:h})} /> ${g}
    </label>`;return a`<fieldset class="radios">
      <legend class="sr-only">Which ${f.field.label} to
      keep</legend>${m("mine","yours")}${m("theirs","theirs")}</fieldset>`};return a`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${s.updated_by||"Somebody"} saved
    version ${s.version} at ${M(s.updated_at)}${s.reason&&` (${s.reason})`}. You began
      with version ${t?.version??"–"}. Nothing of yours is saved yet, and nothing is lost.</p>
    <${H}
      caption="Fields that differ"
      rows=${i}
      rowKey=${f=>f.field.name}
      columns=${[["Field",f=>f.field.label],["When you began",f=>a`<code>${f.base||"(none)"}</code>`],["Yours",f=>f.mine===f.base?a`<span class="faint">unchanged</span>`:a`<ins>${f.mine||"(none)"}</ins>`],["Theirs",f=>f.theirs===f.base?a`<span class="faint">unchanged</span>`:a`<ins class="theirs">${f.theirs||"(none)"}</ins>`],["Keep",$]]}
    />
    <p class="row end">
      <span class="grow" role="status">${d.length?`Choose for ${d.length===1?"1 field":`${d.length} fields`} that you both changed.`:"Everything is decided."}</span>
      <button type="button" onClick=${o}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${d.length?"true":void 0}
        onClick=${()=>d.length||c()}>Review the result …</button>
    </p>
  </section>`}var Qn=60;function ts({name:e,group:t,acquirer:n}){let[o,s]=_({group:t,acquirer:n});D(()=>{let p=setTimeout(()=>s({group:t,acquirer:n}),250);return()=>clearTimeout(p)},[t,n]);let r=S(p=>xe("/v1/known",{},"callers",p,1e3),["known"]),i=S(o.group&&o.acquirer?async p=>{let m={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await T("/v1/preview",{edits:{edits:[{create:m}]}},p)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),l=r.data?.items??[],u=i.data?.eligible??i.data?.total_admitted??0,d=new Set((i.data?.admitted??[]).map(p=>`${p.acquirer} in ${p.group}`)),c=i.error&&!i.error.offline?i.error.fields?.[0]?.rule??i.error.message:"",$=d.size>=u,f=[...l].sort((p,m)=>d.has(`${m.acquirer} in ${m.group}`)-d.has(`${p.acquirer} in ${p.group}`));return a`<div class="pattern-test full" aria-live="polite">
    ${c?a`<p class="error">${c}</p>`:l.length===0?a`<p class="faint">Nobody was seen asking yet, so the patterns cannot be tried on anybody.</p>`:a`<p><strong class=${u?"tone-run":"tone-deny"}>These patterns let
          in ${u?y(u):"none"} of ${C(l.length,"known caller","known callers")}${r.data?.more?" and more":""}.</strong></p>
            <ul class="chips">${f.slice(0,Qn).map(p=>{let m=`${p.acquirer} in ${p.group}`,h=d.has(m);return!h&&!$?null:a`<li key=${m} class=${h?"in":"out"}><span aria-hidden="true">${h?"✓":"✗"}</span>
                <span class="sr-only">${h?"let in: ":"not let in: "}</span>${m}</li>`})}${l.length>Qn&&a`<li class="out">and ${y(l.length-Qn)} more</li>`}</ul>`}
  </div>`}var ns={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function os({name:e,record:t,onSaved:n}){let[o,s]=P();if(o.get("edit")==="1"||!t)return a`<${Qa} name=${e} record=${t} onSaved=${n}
    onDone=${()=>s({edit:""})} />`;let i=t.definition;return a`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${L} role="ROLE_EDITOR" semaphore=${e} kind="primary"
        onClick=${()=>s({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Se} of=${he.map(l=>[l.label,Ke(l,i)&&(l.kind==="pattern"?a`<code>${Ke(l,i)}</code>`:Ke(l,i))])} />
    <p class="faint">Version ${t.version}, ${M(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var nn=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function Qa({name:e,record:t,onSaved:n,onDone:o}){let[s,r]=_(t),[i,l]=_(()=>tn(t?.definition??ns)),[u,d]=_({}),[c,$]=_(!1),[f,p]=_(null),[m,h]=_({}),g=le(()=>tn(s?.definition??ns),[s]),{definition:b,errors:w}=Xr(i,s?.definition??{name:e}),E=!s||he.some(v=>i[v.name]!==g[v.name]),O=Object.keys(w).length>0,k=t&&s&&t.version!==s.version?t:null;D(()=>{if(!E||!s)return;let v=pe=>pe.preventDefault();return addEventListener("beforeunload",v),()=>removeEventListener("beforeunload",v)},[E]);let I=v=>pe=>{l(se=>({...se,[v]:pe})),h(se=>({...se,[v]:void 0}))},q=s?{replace:b,expected_version:s.version}:{create:{...b,name:e}},Q=()=>({edits:[q],...Oe(u.drain),...s?Re(u):{}}),B=v=>p({theirs:v,...Zr(g,i,tn(v.definition))}),z=v=>{if(v.reason==="STALE_VERSION")return x(Y`/v1/definitions/${e}`).then(se=>B(se.record),se=>be(se.message,{tone:"deny"})),!0;let pe=v.fields?.filter(se=>he.some(Ae=>se.field.endsWith(Ae.name)))??[];return pe.length===0?!1:(h(Object.fromEntries(pe.map(se=>[he.find(Ae=>se.field.endsWith(Ae.name)).name,se.rule]))),!0)},J=v=>{let pe=w[v.name]??m[v.name],se=i[v.name],Ae={key:v.name,label:v.label,help:v.help,error:pe,class:se!==g[v.name]?"changed":""};if(v.kind==="flag")return a`<${ue} ...${Ae} checked=${se==="yes"}
      onChange=${de=>I(v.name)(de?"yes":"no")} />`;if(v.kind==="choice")return a`<${ve} ...${Ae} value=${se} onChange=${I(v.name)}
      options=${v.values.map(de=>[de.toLowerCase(),de.toLowerCase()])} />`;let Ce=v.kind==="labels"?3:v.name==="description"?2:void 0;return a`<${R} ...${Ae} value=${se} onInput=${I(v.name)} area=${Ce} name=${v.name}
      inputmode=${v.kind==="number"?"numeric":void 0} />`},ee=v=>{v.preventDefault(),!O&&E&&$(!0)};return f?a`<${es}
      of=${f}
      base=${s}
      onCancel=${()=>p(null)}
      onMerged=${v=>{r(f.theirs),l(v),p(null),$(!0)}}
    />`:a`<section class="panel">
    <div class="title"><h2>${s?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&a`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version
      at ${M(k.updated_at)}, while you edit.
      <button type="button" onClick=${()=>B(k)}>Compare and merge</button></p>`}
    <form onSubmit=${ee}>
      <div class="form">
        ${he.filter(v=>!nn.includes(v.name)&&v.kind!=="pattern"&&["description","labels"].includes(v.name)).map(J)}
        ${he.filter(v=>v.kind==="pattern").map(J)}
        <${ts} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${he.filter(v=>!nn.includes(v.name)&&v.kind!=="pattern"&&!["description","labels"].includes(v.name)).map(J)}
      </div>
      <details open=${nn.some(v=>i[v]!==g[v]||w[v])}>
        <summary>Firings</summary>
        <div class="form">${he.filter(v=>nn.includes(v.name)).map(J)}</div>
      </details>
      <p class="row end sticky-end">
        ${E&&a`<span class="grow faint">Nothing is saved yet.</span>`}
        ${s&&a`<button type="button" onClick=${o}>${E?"Discard":"Back"}</button>`}
        <${L} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary"
          why=${O?"A field has a mistake.":E?"":"Nothing was changed."}>Review and save …<//>
      </p>
    </form>
    ${c&&a`<${Z}
      title=${s?`Save ${e}`:`Create ${e}`}
      verb=${s?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${u}
      preview=${async v=>T("/v1/preview",{edits:Q()},v)}
      run=${async v=>T("/v1/definitions:edit",{...Q(),...v})}
      done=${v=>`${e} is ${s?"saved":"created"}, as change ${v.revision}.`}
      onError=${z}
      onClose=${()=>$(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${s&&a`<details><summary>Only for a time, or with a drain</summary>
        <div class="form"><${je} value=${u} set=${d}
          without="Then the old values come back. Empty: for good." />
            <${Je} value=${u} set=${d} /></div>
      </details>`}
    <//>`}
  </section>`}function rs({name:e,events:t}){let n=S(s=>x("/v1/jobs",{semaphore:e,page_size:200},s),["jobs",e,t],{every:5e3,keep:!0}),o=S(s=>x("/v1/workers",{semaphore:e},s),["workers",e,t],{every:5e3,keep:!0});return a`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${U} of=${n} what="Reading the jobs">
        ${s=>s.jobs?.length?a`<${Pn} jobs=${s.jobs} />`:a`<${A} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${U} of=${o} what="Reading the workers">${s=>a`<${qn} data=${s} />`}<//>
    </section>
  </div>`}var Ya=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],Xa=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+N(n.expires_in):0}));function Za(e){let t=S(d=>x(Y`/v1/definitions/${e}`,{},d),["record",e],{every:15e3}),n=S(async d=>{let c=Date.now();return Xa((await xe("/v1/holders",{names:[e]},"permits",d)).items,c)},["holders",e],{every:15e3}),o=S(async d=>({at:Date.now(),...await x("/v1/waiters",{names:[e],page_size:200},d)}),["waiters",e],{every:5e3}),[s,r]=_(null),[i,l]=_(0),u=Be(()=>{t.refresh(),n.refresh(),o.refresh(),l(d=>d+1)},40,{rest:1e3});return De("/v1/watch",{names:[e],permits:!0,live_every:"1s"},{open:d=>d&&u(),missed:u,message:({events:d=[]})=>d.length&&u(),live(d){let c=(d.live.semaphores??[]).find(p=>p.semaphore===e),$=Date.now(),f=new Map((c?.deadlines??[]).map(p=>[p.token,$+N(p.expires_in)]));n.set(p=>p?.map(m=>f.has(m.token)?{...m,deadline:f.get(m.token)}:m)),s&&(c?.waiters??0)!==s.waiters&&o.refresh(),r({waiters:c?.waiters??0})}}),{record:t,holders:n,waiters:o,live:s,events:i,read:u}}function ei({record:e,onChange:t}){let[n,o]=_(""),s=e.definition.name,r=()=>o("");return a`
    ${e.pause?a`<${L} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("resume")}>Resume …<//>`:a`<${L} role="ROLE_OPERATOR" semaphore=${s} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(s)}`}>Move …</a>
    <${L} role="ROLE_EDITOR" semaphore=${s} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&a`<${Br} selector=${{names:[s]}} onClose=${r} onDone=${t} />`}
    ${n==="resume"&&a`<${Kr} selector=${{names:[s]}} onClose=${r}
      onDone=${t} />`}
    ${n==="delete"&&a`<${Z}
      title=${`Delete ${s}`}
      verb="Delete it"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${s}
      preview=${i=>T("/v1/preview",{edits:{edits:[{delete:s,expected_version:e.version}]}},i)}
      run=${i=>T("/v1/definitions:edit",{edits:[{delete:s,expected_version:e.version}],...i})}
      done=${()=>`${s} is deleted.`}
      onDone=${()=>me("/")}
      onClose=${r}
    />`}`}function ti({record:e,holders:t,live:n}){let o=Number(e.used??0),s=e.definition.permits??0;return a`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${y(o)}<span class="faint"> / ${y(s)}</span></dd>
      <dd><${ye} share=${s?o/s:o?1:0} label="${o} of ${s} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${y(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${y(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function ss({name:e}){re(e);let t=Za(e),[n]=P(),o=n.get("tab")??"now",s=t.record.data?.record,r=t.record.error?.code==="NOT_FOUND",i=r&&!s;return a`
    <${te} aside=${s&&a`<${ei} record=${s} onChange=${t.read} />`}>${e}<//>
    <${Ge} />
    ${r&&a`<p class="note">There is no definition of this name${s?" any more":""}. Its history and
      firings may still be known.</p>`}
    ${s&&!r&&a`<div class="standing">
      <p class="row">${bt(s).map(l=>a`<${kt} key=${l.value} value=${l.value} />`)}</p>
      ${Bt(s).map(l=>a`<p class="note">${l}</p>`)}
      <${ti} record=${s} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!r&&!t.record.error.offline&&a`<${W} error=${t.record.error} retry=${t.record.refresh} />`}
    <${st} of=${Ya} label="Parts of this semaphore" />
    ${!s&&!r?!t.record.error&&a`<${_e} what="Reading the semaphore" />`:o==="rule"?a`<${os} key=${e} name=${e} record=${r?null:s} onSaved=${t.read} />`:o==="history"?a`<${Jr} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?a`<${Vr} name=${e} events=${t.events} />`:o==="explain"?a`<${zr} name=${e} />`:i?a`<${A} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at
                  its <a href="?tab=history">history</a>.<//>`:o==="tasks"?a`<${rs} name=${e} events=${t.events} />`:a`<${Yr} name=${e} of=${t} />`}`}var ni=[[/^\/$/,Mr],[/^\/s\/(.+)$/,ss],[/^\/move$/,Ur],[/^\/activity$/,cr],[/^\/jobs$/,Tr],[/^\/jobs\/(.+)$/,Cr],[/^\/cluster$/,Er],[/^\/access$/,lr]];function oi(){return re("No such page"),a`<${te}>No such page<//><${A} title="There is nothing at this address.">
    <a href="/">Go to the overview</a><//>`}function ri(){let e=K(Ze).split("?")[0],t=K(qe),[n,o]=_(!1),s=K(Te);if(D(()=>{e!=="/login"&&!Te.get()&&bn().catch(()=>{}).then(()=>o(!0))},[e==="/login",t]),e==="/login")return a`<${zt} bare><${Dr} /><//>`;if(!s&&!n)return a`<${zt} bare>
    <${_e} what="Asking who you are" /><//>`;let[r,i]=So(e,ni)??[oi,[]];return a`<${zt}><${r} key=${e} name=${i[0]} /><//>`}co(a`<${ri} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
